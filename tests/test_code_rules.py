"""Rules of the code that the linter does not have: files are short, and frozen classes hold no state."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from .modules import MODULES, Module, Rule, breaks, is_broken

MAX_LINES = 300
"""Lines of a Python file."""


def files_are_short(module: Module) -> Iterator[str]:
    lines = len(module.text.splitlines())
    if lines > MAX_LINES:
        yield f"{lines} lines; at most {MAX_LINES} are allowed"


def frozen_classes_hold_no_state(module: Module) -> Iterator[str]:
    """Yield each field of a frozen class that is no argument and gets a new object, such as a cache or a lock."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ClassDef) and any("frozen" in ast.unparse(each) for each in node.decorator_list):
            for statement in node.body:
                value = statement.value if isinstance(statement, ast.AnnAssign) else None
                arguments = {word.arg for word in value.keywords} if isinstance(value, ast.Call) else set()
                if {"init", "factory"} <= arguments:
                    yield f"a field of {node.name} in line {statement.lineno}"


@pytest.mark.parametrize(
    ("rule", "broken"),
    [
        (files_are_short, "\n" * (MAX_LINES + 1)),
        (
            frozen_classes_hold_no_state,
            "@frozen(eq=False)\nclass A:\n    _made: dict = field(init=False, factory=dict)",
        ),
    ],
)
def test_the_package_keeps_the_rule(rule: Rule, broken: str) -> None:
    assert breaks(MODULES, rule) == []
    assert is_broken(rule, "services.feed", broken)

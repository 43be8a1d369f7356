"""A rule of the code that the linter does not have: files are short."""

from __future__ import annotations

from collections.abc import Iterator

from .modules import MODULES, Module, breaks, is_broken

MAX_LINES = 300
"""Lines of a Python file."""


def files_are_short(module: Module) -> Iterator[str]:
    lines = len(module.text.splitlines())
    if lines > MAX_LINES:
        yield f"{lines} lines; at most {MAX_LINES} are allowed"


def test_files_are_short() -> None:
    assert breaks(MODULES, files_are_short) == []
    assert is_broken(files_are_short, "services.feed", "\n" * (MAX_LINES + 1))

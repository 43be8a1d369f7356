"""The Python modules of the package, and the names that each imports. The tests of imports and of code read them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

from attrs import frozen

import directory_server

OURS = "directory_server"
PACKAGE = Path(directory_server.__file__).parent
PROJECT = PACKAGE.parent
BENCH = "bench"


@frozen
class Module:
    """A module of the package: dotted name and source text."""

    name: str
    text: str
    is_package: bool = False

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    def imports(self, node: ast.AST) -> Iterator[str]:
        """Yield the absolute names of all that is imported at or below `node`."""
        for each in ast.walk(node):
            if isinstance(each, ast.Import):
                yield from (alias.name for alias in each.names)
            elif isinstance(each, ast.ImportFrom):
                origin = ".".join(filter(None, (self._parent(each.level), each.module)))
                yield from (f"{origin}.{alias.name}" for alias in each.names)

    def _parent(self, level: int) -> str:
        parts = self.name.split(".")
        return ".".join(parts[: len(parts) - level + self.is_package]) if level else ""


def read_module(path: Path) -> Module:
    """Return the module of a file of the project."""
    parts = path.relative_to(PROJECT).with_suffix("").parts
    is_package = parts[-1] == "__init__"
    return Module(".".join(parts[:-1] if is_package else parts), path.read_text("utf-8"), is_package)


MODULES = [read_module(path) for path in sorted(PACKAGE.rglob("*.py"))]

Rule = Callable[[Module], Iterator[str]]
"""A function that yields each place of a module that breaks a rule."""


def breaks(modules: list[Module], rule: Rule) -> list[str]:
    """Return each place of `modules` that breaks `rule`, with the name of its module."""
    return [f"{each.name}: {broken}" for each in modules for broken in rule(each)]


def is_broken(rule: Rule, name: str, text: str) -> bool:
    """Return whether `rule` finds something in a module of the package with this name and text."""
    return any(rule(Module(f"{OURS}.{name}", text)))

"""Rules of the code: time is an argument, coroutines are `async def`, files are short."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .modules import MODULES, Module, breaks, is_broken
from .test_layers import COMPOSERS, layer_of

MAX_LINES = 300
"""Lines of a Python file."""

REPLACED_NAMES = {"inlineCallbacks", "returnValue"}
"""Names that `async def` replaces."""

NOW = {("datetime", "now"), ("datetime", "utcnow"), ("datetime", "today"), ("date", "today")}
"""Functions that read a clock."""


def time_is_an_argument(module: Module) -> Iterator[str]:
    for node in ast.walk(module.tree):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and (node.value.id, node.attr) in NOW
            and layer_of(module.name) not in COMPOSERS
        ):
            yield f"{node.value.id}.{node.attr} in line {node.lineno}"


def coroutines_are_async_def(module: Module) -> Iterator[str]:
    for node in ast.walk(module.tree):
        names = {getattr(node, attribute, None) for attribute in ("id", "attr", "name")}
        yield from (f"{name} in line {getattr(node, 'lineno', '?')}" for name in names & REPLACED_NAMES)


def files_are_short(module: Module) -> Iterator[str]:
    lines = len(module.text.splitlines())
    if lines > MAX_LINES:
        yield f"{lines} lines; at most {MAX_LINES} are allowed"


def test_time_is_an_argument() -> None:
    assert breaks(MODULES, time_is_an_argument) == []
    assert is_broken(time_is_an_argument, "sqlite._store", "datetime.now()")


def test_coroutines_are_async_def() -> None:
    assert breaks(MODULES, coroutines_are_async_def) == []
    assert is_broken(coroutines_are_async_def, "services.feed", "from twisted.internet.defer import inlineCallbacks")
    assert is_broken(coroutines_are_async_def, "services.feed", "@defer.inlineCallbacks\ndef pump(): ...")


def test_files_are_short() -> None:
    assert breaks(MODULES, files_are_short) == []
    assert is_broken(files_are_short, "services.feed", "\n" * (MAX_LINES + 1))

"""The compiled modules: which are used, and where an operator reads it."""

from __future__ import annotations

import os
import shutil
import sys
from types import SimpleNamespace

import pytest
from twisted.logger import Logger

from directory_server.app import log_compiled_modules
from directory_server.compiled import compiled, compiled_modules

from .logs import captured_lines


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> dict[str, bool]:
    """Return the answers of this process, which the test may change."""
    answers: dict[str, bool] = {}
    monkeypatch.setattr("directory_server.compiled._used", answers)
    return answers


@pytest.mark.skipif(shutil.which(os.environ.get("CC", "cc")) is None, reason="no C compiler")
def test_every_module_is_used_where_a_compiler_is_installed() -> None:
    import directory_server.composition  # noqa: F401  # it imports every module that asks for one

    assert compiled_modules() == {"search._engine": True}


def test_a_missing_module_and_one_of_another_version_are_not_used(
    modules: dict[str, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("usable", "older"):
        monkeypatch.setitem(sys.modules, f"directory_server.{name}", SimpleNamespace(VERSION=2))
    assert compiled("usable", 2) is not None
    assert compiled("older", 3) is None
    assert compiled("absent") is None
    assert modules == {"usable": True, "older": False, "absent": False}


@pytest.mark.parametrize(
    ("answers", "line"),
    [
        ({"a": True, "b.c": True}, "Compiled modules: a, b.c"),
        ({"a": True, "b.c": False, "d": False}, "Not compiled: b.c, d. Slower Python code is used."),
    ],
)
def test_the_server_logs_at_its_start_which_modules_it_uses(
    modules: dict[str, bool], answers: dict[str, bool], line: str
) -> None:
    modules.update(answers)
    with captured_lines("test_compiled") as lines:
        log_compiled_modules(Logger("test_compiled"))
    assert len(lines) == 1
    assert lines[0].startswith(line)

"""The sources of the compiled modules: complete in a source distribution, and within the limited API."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

setuptools: Any = pytest.importorskip("setuptools")
FileList: Any = pytest.importorskip("setuptools._distutils.filelist").FileList

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted((ROOT / "directory_server").rglob("*.c"))
HEADERS = sorted((ROOT / "directory_server").rglob("*.h"))
LIMITED_API = re.compile(r"^#define Py_LIMITED_API 0x030B0000$", re.MULTILINE)


@pytest.fixture
def extensions(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    given: dict[str, Any] = {}
    monkeypatch.setattr(setuptools, "setup", given.update)
    runpy.run_path(str(ROOT / "setup.py"))
    found: list[Any] = given["ext_modules"]
    return found


def distributed() -> set[Path]:
    """Return the files that MANIFEST.in adds to a source distribution."""
    files = FileList()
    files.set_allfiles([str(path.relative_to(ROOT)) for path in (*MODULES, *HEADERS)])
    for line in (ROOT / "MANIFEST.in").read_text().splitlines():
        files.process_template_line(line)
    return {ROOT / each for each in files.files}


def test_a_source_distribution_has_all_sources() -> None:
    assert HEADERS
    assert distributed() >= {*MODULES, *HEADERS}


def test_a_changed_header_rebuilds_every_module(extensions: list[Any]) -> None:
    assert {ROOT / each.sources[0] for each in extensions} == set(MODULES)
    for each in extensions:
        assert {ROOT / path for path in each.depends} == set(HEADERS)


def test_every_module_has_the_limited_api() -> None:
    common = ROOT / "directory_server" / "compiled.h"
    assert [path for path in (*MODULES, *HEADERS) if LIMITED_API.search(path.read_text())] == [common]
    names = {f'#include "{path.name}"' for path in HEADERS}
    for path in {*MODULES, *HEADERS} - {common}:
        # Python.h must not be read before the limit is defined.
        assert re.findall(r"^#include .*$", path.read_text(), re.MULTILINE)[0] in names

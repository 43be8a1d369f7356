"""The sources of the compiled engine: complete in a source distribution, and within the limited API."""

from __future__ import annotations

import os
import re
import runpy
import shutil
from pathlib import Path
from typing import Any

import pytest

from directory_server.search.index.arrays import ENGINE_VERSION

setuptools: Any = pytest.importorskip("setuptools")
FileList: Any = pytest.importorskip("setuptools._distutils.filelist").FileList

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "directory_server").rglob("*.c"))
HEADERS = sorted((ROOT / "directory_server").rglob("*.h"))
LIMITED_API = re.compile(r"^#define Py_LIMITED_API 0x030B0000$", re.MULTILINE)


def options_of_setup(path: Path) -> dict[str, Any]:
    """Return the arguments of `setup` in the file at `path`."""
    given: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(setuptools, "setup", given.update)
        runpy.run_path(str(path))
    return given


@pytest.fixture
def extensions() -> list[Any]:
    found: list[Any] = options_of_setup(ROOT / "setup.py")["ext_modules"]
    return found


def distributed() -> set[Path]:
    """Return the files that MANIFEST.in adds to a source distribution."""
    files = FileList()
    files.set_allfiles([str(path.relative_to(ROOT)) for path in (*SOURCES, *HEADERS)])
    for line in (ROOT / "MANIFEST.in").read_text().splitlines():
        files.process_template_line(line)
    return {ROOT / each for each in files.files}


def test_a_source_distribution_has_all_sources() -> None:
    assert HEADERS
    assert distributed() >= {*SOURCES, *HEADERS}


def test_the_engine_has_all_sources_and_a_changed_header_rebuilds_it(extensions: list[Any]) -> None:
    (engine,) = extensions
    assert {ROOT / path for path in engine.sources} == set(SOURCES)
    assert {ROOT / path for path in engine.depends} >= set(HEADERS)
    assert engine.define_macros == [("ENGINE_VERSION", str(ENGINE_VERSION))]


def test_every_source_has_the_limited_api() -> None:
    (header,) = HEADERS
    assert LIMITED_API.search(header.read_text())
    for path in SOURCES:
        # Python.h must not be read before the limit is defined.
        assert re.findall(r"^#include .*$", path.read_text(), re.MULTILINE)[0] == f'#include "{header.name}"'


@pytest.mark.parametrize("editable", [True, False])
def test_a_module_that_does_not_compile_is_named_and_an_older_file_of_it_deleted(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], editable: bool
) -> None:
    for name in ("setup.py", "directory_server/search/index/arrays.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "broken.c").write_text("#error\n")
    options = options_of_setup(tmp_path / "setup.py")
    broken = setuptools.Extension("broken", [str(tmp_path / "broken.c")], optional=True)
    build = options["cmdclass"]["build_ext"](setuptools.Distribution({"ext_modules": [broken]}))
    build.editable_mode, build.build_lib, build.build_temp = editable, str(tmp_path / "lib"), str(tmp_path / "temp")
    build.ensure_finalized()
    older = (tmp_path if editable else tmp_path / "lib") / build.get_ext_filename("broken")
    older.parent.mkdir(exist_ok=True)
    older.touch()
    os.utime(older, (0, 0))
    build.run()
    assert "WARNING: not compiled: broken.\n" in capfd.readouterr().err
    assert not older.exists()

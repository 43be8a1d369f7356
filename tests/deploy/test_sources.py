"""Source distributions and wheels: they have all files of the project that they need, and nothing is compiled."""

from __future__ import annotations

import runpy
import tomllib
from pathlib import Path
from typing import Any

import pytest

setuptools: Any = pytest.importorskip("setuptools")
FileList: Any = pytest.importorskip("setuptools._distutils.filelist").FileList

ROOT = Path(__file__).resolve().parents[2]
GENERATED = {"directory_server/features/docs/pages.json"}


def files_of(folder: str) -> set[str]:
    """Return the files in a folder of the project, relative to it, without bytecode and documents."""
    paths = (path for path in (ROOT / folder).rglob("*") if path.is_file())
    kept = (path for path in paths if "__pycache__" not in path.parts and path.suffix != ".md")
    return {str(path.relative_to(ROOT)) for path in kept} - GENERATED


def data_of_wheel() -> set[str]:
    """Return the files of the package that the patterns of pyproject.toml match."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    patterns = project["tool"]["setuptools"]["package-data"]["directory_server"]
    paths = (path for pattern in patterns for path in (ROOT / "directory_server").glob(pattern))
    return {str(path.relative_to(ROOT)) for path in paths}


def test_a_wheel_has_all_data_of_the_package() -> None:
    data = {name for name in files_of("directory_server") if not name.endswith(".py")}
    assert "directory_server/search/data/lexicon.npz" in data
    assert data - data_of_wheel() == set()


def test_a_source_distribution_has_all_sources() -> None:
    files = FileList()
    wanted = {name for folder in ("directory_server", "search_data", "deploy") for name in files_of(folder)}
    files.set_allfiles(sorted(wanted))
    for line in (ROOT / "MANIFEST.in").read_text("utf-8").splitlines():
        files.process_template_line(line)
    # The build command adds the modules and the data of the package.
    assert "search_data/sources/senses.tsv" in files.files
    assert {name for name in wanted - {*files.files} if not name.endswith(".py")} - data_of_wheel() == set()


def test_nothing_is_compiled() -> None:
    options: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(setuptools, "setup", options.update)
        runpy.run_path(str(ROOT / "setup.py"))
    assert options["packages"]
    assert "ext_modules" not in options
    assert [name for name in files_of("directory_server") if name.endswith((".c", ".h", ".pyx", ".so"))] == []

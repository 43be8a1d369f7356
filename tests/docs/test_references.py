"""The paths and links of the documents lead to files and headings that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ._examples import CHAPTERS, ROOT

DOCUMENTS = [
    path
    for path in (
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
        *sorted(ROOT.glob("docs/**/*.md")),
        *CHAPTERS,
    )
    if path.is_file()
]

_MODULE = re.compile(r"`([\w./-]+\.py)`")
_LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def missing_modules(text: str) -> Iterator[str]:
    """Yield the Python files in `text` that exist neither in the project nor in the package."""
    for name in _MODULE.findall(text):
        found = (ROOT / name).is_file() or (ROOT / "directory_server" / name).is_file()
        if not found and ("/" in name or not any(ROOT.glob(f"directory_server/**/{name}"))):
            yield name


def unlisted(layout: str) -> Iterator[str]:
    """Yield the packages and modules of the package that the table `layout` does not name."""
    named = set(re.findall(r"`(?:directory_server/)?([\w.]+)/?`", layout))
    for path in sorted((ROOT / "directory_server").iterdir()):
        is_package = (path / "__init__.py").is_file()
        if (is_package or path.suffix in (".py", ".h")) and not {path.name, f"{path.name}/"} & named:
            yield path.name


def broken_links(document: Path, text: str) -> Iterator[str]:
    """Yield the links in `text` to files of the project, or to headings, that do not exist."""
    for path, anchor in _LINK.findall(text):
        if path.startswith(("http:", "https:", "mailto:")):
            continue
        target = document.parent / path if path else document
        if not target.exists() or (anchor and anchor not in _anchors(target)):
            yield f"{path}#{anchor}"


def _anchors(document: Path) -> set[str]:
    """Return the anchors of the headings, as GitHub makes them."""
    headings = _HEADING.findall(document.read_text("utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_and_links_exist(document: Path) -> None:
    text = document.read_text("utf-8")
    assert [*missing_modules(text), *broken_links(document, text)] == []


def test_the_layout_names_every_package_and_module() -> None:
    layout = (ROOT / "docs" / "architecture.md").read_text("utf-8").partition("## Layout")[2].partition("\n## ")[0]
    assert [name for name in unlisted(layout) if name not in ("__init__.py", "twisted")] == []


def test_missing_modules_and_broken_links_are_found() -> None:
    text = "`web/routes.py` `web/nowhere.py` [a](protocol.md#rest) [b](protocol.md#nowhere) [c](nowhere.md)"
    assert list(missing_modules(text)) == ["web/nowhere.py"]
    assert list(broken_links(ROOT / "docs" / "operations.md", text)) == ["protocol.md#nowhere", "nowhere.md#"]

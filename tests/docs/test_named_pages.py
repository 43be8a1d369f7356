"""Pages below /docs that messages, templates and texts name exist."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import directory_server

PACKAGE = Path(directory_server.__file__).parent

OWN = {"", "api", "api/objects", "api/publishing"}
"""Pages that are not rendered from Markdown: the list of all pages, and the REST API."""

_NAMED = re.compile(r"(?<![\w.])/docs(?:/([\w/-]+))?(?![\w{}/:])")


def named_pages() -> dict[str, set[str]]:
    """Return the paths below /docs that each file of the package names."""
    files = [each for kind in ("*.py", "*.html", "*.toml") for each in PACKAGE.rglob(kind)]
    found = {str(each.relative_to(PACKAGE)): set(_NAMED.findall(each.read_text("utf-8"))) for each in files}
    return {name: paths for name, paths in found.items() if paths}


def test_named_pages_of_the_documentation_exist() -> None:
    rendered: dict[str, Any] = runpy.run_path(str(PACKAGE.parent / "docs" / "render.py"))["render"]()
    pages = {each["path"] for each in rendered["pages"]} | OWN
    named = named_pages()
    assert {name: missing for name, paths in named.items() if (missing := paths - pages)} == {}
    # The errors and the operator pages name some.
    assert "protocol/endpoints" in named["web/error_responses.py"]
    assert any(name.startswith("features/operators/templates/") for name in named)

"""Compare the filters in docs/browse.md with those that the search knows."""

from __future__ import annotations

import re
from pathlib import Path

from directory_server.domain.filters import FILTERS, PACKAGES

NAMES = ("namespace", "tool", "version")
"""Filters of any value, of which the page has examples."""

BROWSE = Path(__file__).parents[2] / "docs" / "browse.md"


def test_the_page_about_browsing_has_every_filter_with_its_values() -> None:
    rows = dict(re.findall(r"^\| `(\w+):` \| (.*) \|$", BROWSE.read_text("utf-8"), re.MULTILINE))
    missing = [
        f"| `{name}:` | {', '.join(f'`{value}`' for value in FILTERS[name])} |" for name in FILTERS.keys() - rows
    ]
    assert missing == [], "docs/browse.md, table of filters: add these rows, with what the values mean"
    assert rows.keys() == FILTERS.keys()
    for name, text in rows.items():
        shown = set(re.findall(r"`([\w.-]+)`", text))
        allowed = {str(each) for each in FILTERS[name]} or {*PACKAGES, "tag:monitoring"}
        # Namespaces, languages and licences have examples only.
        assert shown <= allowed or name in NAMES
        assert shown == allowed or name in ("tag", "package", "language", "license", *NAMES)

"""Accessibility (axe) and width of every page in every state."""

from __future__ import annotations

import os
from typing import Any

import pytest

from ._states import states
from .conftest import Open, Site

PHONE, DESKTOP = 320, 1280


# One view for each language, because axe takes a third of a second per view. FAULTS=all checks all four views.
VIEWS = {"en-GB": [(PHONE, "light"), (DESKTOP, "dark")], "zh-CN": [(DESKTOP, "light"), (PHONE, "dark")]}

_NUMBER = 2 if os.environ.get("FAULTS") == "all" else 1


@pytest.mark.parametrize(("locale", "views"), [(locale, views[:_NUMBER]) for locale, views in VIEWS.items()])
def test_pages_are_accessible_and_fit_the_viewport(
    open_page: Open, site: Site, locale: str, views: list[tuple[int, str]]
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe-core").Axe()
    # Animations would be measured half-way.
    page = open_page("/", locale=locale, reduced_motion="reduce")
    wrong: list[Any] = []
    for state in states(page, site, locale.lower()):
        for width, scheme in views:
            page.set_viewport_size({"width": width, "height": 800})
            page.emulate_media(color_scheme=scheme)
            where = (state, width, scheme)
            found = axe.run(page).response["violations"]
            wrong += [(*where, each["id"], [node["html"] for node in each["nodes"]]) for each in found]
            if not page.evaluate("document.documentElement.scrollWidth <= innerWidth"):
                wrong.append((*where, "scrolls sideways"))
    assert wrong == []

"""Accessibility (axe) and width of every page in every state."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from ._states import states, wait_for_drawing
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
    wrong: list[str] = []
    for state in states(page, site, locale.lower()):
        for width, scheme in views:
            page.set_viewport_size({"width": width, "height": 800})
            page.emulate_media(color_scheme=scheme)
            _settle(page)
            where = f"{state}, {locale}, {width} px, {scheme}"
            wrong += [f"{where}: {each}" for each in _violations(axe.run(page).response["violations"])]
            if not page.evaluate("document.documentElement.scrollWidth <= innerWidth"):
                wrong.append(f"{where}: scrolls sideways")
    if wrong:
        # An assertion would show the first items only.
        pytest.fail("\n".join(wrong), pytrace=False)


def _settle(page: Any) -> None:
    """Wait until the page is loaded, no search is under way, and the browser has drawn the view."""
    page.wait_for_load_state()
    page.locator(".waiting").wait_for(state="detached")
    wait_for_drawing(page)


def _violations(found: list[Any]) -> Iterator[str]:
    """Yield each element that breaks a rule, with what is wrong."""
    for each in found:
        for node in each["nodes"]:
            yield f"{each['id']} at {node['target']}: {node['html']}\n    {node['failureSummary']}"

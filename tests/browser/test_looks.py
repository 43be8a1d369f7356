"""Every page in every state: what axe says of it, and whether it is as wide as the window."""

from __future__ import annotations

from typing import Any

import pytest

from ..process.conftest import Installation, Server
from ._walk import states
from .conftest import Open

PHONE, DESKTOP = 320, 1280


# Both languages together see all four views, for a look takes axe a third of a second.
@pytest.mark.parametrize(
    ("locale", "views"),
    [
        ("en-GB", [(PHONE, "light"), (DESKTOP, "dark")]),
        ("zh-CN", [(PHONE, "dark"), (DESKTOP, "light")]),
    ],
)
def test_pages_are_accessible_and_as_wide_as_the_window(
    open_page: Open, served: tuple[Installation, Server], locale: str, views: list[tuple[int, str]]
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe-core").Axe()
    # What fades in would be measured half way.
    page = open_page("/", locale=locale, reduced_motion="reduce")
    wrong: list[Any] = []
    for state in states(page, served, locale.lower()):
        for width, scheme in views:
            page.set_viewport_size({"width": width, "height": 800})
            page.emulate_media(color_scheme=scheme)
            where = (state, width, scheme)
            found = axe.run(page).response["violations"]
            wrong += [(*where, each["id"], [node["html"] for node in each["nodes"]]) for each in found]
            if not page.evaluate("document.documentElement.scrollWidth <= innerWidth"):
                wrong.append((*where, "scrolls sideways"))
    assert wrong == []

"""Audit of pages: accessibility (axe) and width, on a phone in light colours or on a desktop in dark colours."""

from __future__ import annotations

import os
from typing import Any

import pytest
from attrs import define, field

from ._states import wait_for_drawing

VIEWS = [(320, "light"), (1280, "dark")]
"""Width in pixels and colour scheme. The states of a page have them in turn, because axe takes half a second."""

ALL_VIEWS = os.environ.get("FAULTS") == "all"
"""Whether axe checks each state in both views."""


@define
class Audit:
    """Collects what is wrong with the states of a page."""

    page: Any
    _states: int = field(init=False, default=0)
    _axe: Any = field(init=False)
    _wrong: list[str] = field(init=False, factory=list)

    def __attrs_post_init__(self) -> None:
        self._axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe-core").Axe()

    def check(self, state: str) -> None:
        """Check the page, which is in `state`: its width in both views, all else in one."""
        self._states += 1
        views = VIEWS[self._states % 2 :] + VIEWS[: self._states % 2]
        for width, scheme in views:
            self.page.set_viewport_size({"width": width, "height": 800})
            self.page.emulate_media(color_scheme=scheme)
            # The page is loaded, no search is under way, and the browser has drawn the view.
            self.page.wait_for_load_state()
            self.page.locator(".waiting").wait_for(state="detached")
            wait_for_drawing(self.page)
            if not self.page.evaluate("document.documentElement.scrollWidth <= innerWidth"):
                self._wrong.append(f"{state}, {width} px: scrolls sideways")
            if ALL_VIEWS:
                self._run_axe(f"{state}, {width} px, {scheme}")
        if not ALL_VIEWS:
            self._run_axe(f"{state}, {width} px, {scheme}")

    def finish(self) -> None:
        """Fail the test if anything is wrong; an assertion would show the first items only."""
        if self._wrong:
            pytest.fail("\n".join(self._wrong), pytrace=False)

    def _run_axe(self, where: str) -> None:
        options = {"resultTypes": ["violations"], "preload": False}
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(self._axe.axe_script)
        for violation in self.page.evaluate("options => axe.run(options)", options)["violations"]:
            for node in violation["nodes"]:
                element = f"{violation['id']} at {node['target']}: {node['html']}"
                self._wrong.append(f"{where}: {element}\n    {node['failureSummary']}")

"""Accessibility (axe) and width of every page in every state."""

from __future__ import annotations

import os

import pytest

from ._audit import Audit
from ._states import states
from .conftest import Open, Site

LOCALES = ["en-GB", "zh-CN"] if os.environ.get("FAULTS") == "all" else ["en-GB"]


@pytest.mark.parametrize("locale", LOCALES)
def test_pages_are_accessible_and_fit_the_viewport(open_page: Open, site: Site, locale: str) -> None:
    # Animations would be measured half-way.
    page = open_page("/", locale=locale, reduced_motion="reduce")
    audit = Audit(page)
    for state in states(page, site, locale.lower()):
        audit.check(f"{state}, {locale}")
    audit.finish()

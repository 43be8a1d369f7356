"""Accessibility (axe) and width of every page in every state."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ..process.conftest import Installation
from ._audit import Audit
from ._states import invitation_path, states
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


def test_the_page_of_a_sign_in_link_is_accessible(open_page: Open, tmp_path: Path) -> None:
    """Without passwords, an invitation signs in, and its page has a form without fields."""
    installation = Installation(tmp_path)
    with installation.serve("--set", "accounts.passwords=false") as server:
        path = invitation_path((installation, server), "ann@example.org")
        page = open_page(server.url + path, reduced_motion="reduce")
        page.get_by_text("This link can be used once.").wait_for()
        audit = Audit(page)
        audit.check("sign-in link")
        audit.finish()
        server.stop()

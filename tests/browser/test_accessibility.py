"""Accessibility (axe) and width of every page in every state."""

from __future__ import annotations

import os
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from ..process.conftest import Installation
from ._audit import Audit
from ._states import PASSWORD, invitation_path, states
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


def test_pages_of_lists_and_requests_are_accessible(open_page: Open, tmp_path: Path) -> None:
    """A member requests an entry, an approver asks back and approves, and an operator edits the list."""
    installation = Installation(tmp_path)
    command = installation.command
    command("quickstart")
    command("lists", "put", "everybody", "--open", "--rule", "github")
    command("lists", "put", "team", "--open", "--holds-versions")
    emails = "ann@example.org", "amy@example.org", "op@example.org"
    paths = {email: urlsplit(command("account", "add", email).strip()).path for email in emails}
    command("account", "role", "op@example.org", "operator")
    command("lists", "approver", "team", "amy@example.org")
    settings = "web.search=public", "lists.enabled=true", "lists.catalogue=true", "audit.enabled=true"
    with installation.serve(*chain.from_iterable(("--set", setting) for setting in settings)) as server:

        def signed_in(email: str) -> Any:
            page = open_page(server.url + paths[email], reduced_motion="reduce")
            page.locator("#password").fill(PASSWORD)
            page.locator("form[action^='/account/invitation/'] button").click()
            page.wait_for_url("**/admin" if email == "op@example.org" else "**/account/keys")
            return page

        def press(page: Any, name: str) -> None:
            with page.expect_navigation():
                page.get_by_role("button", name=name, exact=True).first.click()

        def visit(audit: Audit, *paths: str) -> None:
            for path in paths:
                audit.page.goto(server.url + path)
                audit.check(path)

        ann, amy, op = (Audit(signed_in(email)) for email in emails)
        visit(ann, "/account/lists", "/account/requests")
        ann.page.locator("#entry").fill("io.github.github/github-mcp-server")
        ann.page.locator("#reason").fill("W" * 200)
        press(ann.page, "Send request")
        ann.check("request, sent")
        ann.page.goto(server.url + "/?q=notion")
        ann.page.locator(".outside summary").first.click()
        ann.check("request of what needs approval")
        visit(ann, "/account/requests")
        ann.page.get_by_role("link", name="io.github.github").click()
        ann.check("request of a member")
        visit(amy, "/account/requests")
        amy.page.locator("main a[href^='/account/requests/']").first.click()
        amy.page.wait_for_url("**/requests/*")
        amy.check("request for an approver")
        request = amy.page.url.removeprefix(server.url)
        amy.page.locator("#reason").fill("What for?")
        press(amy.page, "Ask back")
        amy.check("request, asked back")
        visit(ann, request)
        ann.page.locator("[id^='answer-']").fill("Work.")
        press(ann.page, "Send answer")
        visit(amy, request)
        press(amy.page, "Approve")
        visit(
            op,
            "/admin/lists",
            "/admin/lists/team",
            "/admin/lists/team/remove",
            "/admin/groups",
            "/admin/audit",
            "/admin/usage",
            request,
        )
        op.page.goto(server.url + "/admin/lists")
        op.page.locator("#name").fill("new")
        op.page.locator("#groups").fill("none")
        press(op.page, "Add list")
        op.check("list with an unknown group")
        ann.page.goto(server.url + "/?q=github")
        ann.page.locator("#results h3 a").first.click()
        ann.page.wait_for_url("**/servers/*")
        ann.check("entry on a list")
        for audit in (ann, amy, op):
            audit.finish()
        server.stop()

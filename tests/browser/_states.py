"""Show every page of the site in every state."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from ..process.conftest import entry_line
from .conftest import Site

PASSWORD = "correct horse battery"

FULL_ENTRY: dict[str, Any] = {
    "server": {
        "name": "io.github.example/rich",
        "title": "Rich 服务器 " + "long" * 20,
        "description": "Has all fields, and a word longer than a line: " + "x" * 120,
        "version": "1.0.0",
        "websiteUrl": "https://example.org/" + "deep/" * 30,
        "repository": {"url": "https://github.com/example/rich", "source": "github"},
        "packages": [
            {
                "registryType": "npm",
                "identifier": "@example/rich",
                "version": "1.0.0",
                "transport": {"type": "stdio"},
                "environmentVariables": [
                    {"name": "API_TOKEN", "isRequired": True, "isSecret": True, "description": "A token. " + "y" * 90},
                    {"name": "REGION", "description": "Where the data is."},
                ],
            }
        ],
        "remotes": [{"type": "streamable-http", "url": "https://rich.example.org/mcp"}],
        "_meta": {
            "io.modelcontextprotocol.registry/publisher-provided": {
                "tags": ["rich", "github"],
                "readme": "# Rich\n\n[Docs](https://example.org)\n\n| a | b |\n|---|---|\n| c | " + "d" * 200 + " |\n",
                "tools": [
                    {
                        "name": "find",
                        "description": "Finds.",
                        "inputSchema": {
                            "properties": {"query": {"type": "string", "description": "z" * 150}, "limit": {}},
                            "required": ["query"],
                        },
                    }
                ],
            }
        },
    },
    "_meta": {"io.modelcontextprotocol.registry/official": {"status": "deprecated", "isLatest": True}},
}


def invitation_path(site: Site, email: str) -> str:
    """Create an account; return the path of its invitation."""
    return urlsplit(site[0].command("account", "add", email).strip()).path


def states(page: Any, site: Site, name: str) -> Iterator[str]:
    """Yield the name of each state when `page` shows it; `name` is a user name that was not used before."""
    yield from _search_states(page, site, name)
    yield from _sign_in_states(page, site, f"{name}@example.org")
    yield from _key_states(page, site)
    yield from _connect_states(page)
    yield from _settings_states(page, site, f"{name}@example.org")


def _search_states(page: Any, site: Site, name: str) -> Iterator[str]:
    site[0].command("import", "-", stdin=json.dumps(FULL_ENTRY))
    page.goto("/")
    yield "home"
    page.goto("/?q=github")
    yield "results"
    page.goto("/?q=runs:local&sort=stars")
    yield "results, filtered and sorted"
    page.locator("#q").press("End")
    # One event: between two keys a slow browser would search for the words so far.
    page.keyboard.insert_text(" license:")
    page.locator("#suggestions").wait_for(state="visible")
    page.keyboard.press("ArrowDown")
    yield "results, with suggestions"
    page.goto("/?sort=relevance")
    page.locator("a[rel=next]").click()
    page.wait_for_url("**page=2**")
    yield "all servers, second page"
    page.goto("/?q=zzzzqqqq")
    yield "no results"
    page.goto("/?q=github+language:haskell")
    yield "no results because of a filter"
    page.goto("/?q=github+language:haskell+license:agpl-3.0")
    yield "no results because of several filters"
    page.goto("/publishers/io.github.github")
    yield "publisher"
    page.goto("/?q=github#facets")
    yield "filters"
    page.goto("/?q=" + "x" * 300)
    yield "query too long"
    page.goto("/?q=rich")
    page.locator("#results h3 a", has_text="服务器").click()
    page.wait_for_url("**/servers/*")
    yield "entry"
    page.locator(".chooser").get_by_role("link", name="Claude Code").click()
    page.locator("[data-editor=claude-code]").first.wait_for()
    yield "entry, Claude Code"
    page.locator(".chooser summary").click()
    yield "entry, editors"
    page.locator(".chooser").get_by_role("link", name="Zed").click()
    page.locator(".chooser summary.chosen", has_text="Zed").wait_for()
    yield "entry, Zed"
    # The ways are exclusive, and setups of other editors are hidden.
    page.evaluate(
        "document.querySelectorAll('main details').forEach((details) => { details.name = ''; details.open = true; })"
    )
    yield "entry, details open"
    address = page.url
    page.locator(".report a[href$='/report']").click()
    page.wait_for_url("**/report")
    yield "report"
    page.locator("#reason").evaluate("element => { element.required = false; element.form.submit(); }")
    page.locator("#form-error").wait_for()
    yield "report, invalid"
    page.locator("#reason").select_option("spam")
    page.locator("form button").click()
    page.wait_for_url("**/report/sent")
    yield "report, sent"
    page.goto(address)
    page.goto("/docs")
    yield "documentation"
    page.locator("#docs-q").fill("back up")
    page.keyboard.press("Enter")
    page.wait_for_url("**/docs?q=**")
    yield "documentation, search results"
    page.goto("/docs/api")
    yield "documentation of the API"
    page.goto("/docs/operations/configure")
    yield "documentation with a wide table"
    page.goto("/docs/operations/back-up")
    assert page.locator(".docs-page .code .copy").count() == page.locator(".docs-page pre").count() > 0
    page.locator("h2 > .anchor").first.focus()
    yield "documentation, link to a section"
    page.goto("/unknown")
    yield "page not found"
    page.goto("/?q=github")
    with page.expect_response("**/news"):
        page.reload()
    site[0].command("import", "-", stdin="".join(entry_line(f"io.example.{name}/{n}") for n in range(12)))
    page.locator("#new-servers").wait_for(state="visible")
    yield "notification"


def _sign_in_states(page: Any, site: Site, email: str) -> Iterator[str]:
    page.goto("/account/sign-in")
    wait_for_focus(page, "email")
    yield "sign in"
    page.locator("#email").fill(email)
    page.locator("#password").fill("something else")
    _submit(page, "='/account/sign-in'")
    wait_for_focus(page, "password")
    yield "sign in, rejected"
    page.goto("/account/register")
    yield "register"
    page.locator("#email").fill(f"registered-{email}")
    page.locator("#password").fill(PASSWORD)
    _submit(page, "='/account/register'")
    page.wait_for_url("**/account/keys")
    yield "keys, pending"
    _submit(page, "='/account/sign-out'")
    yield "signed out"
    page.goto("/account/invitation/unknown")
    yield "invitation, unknown"
    page.goto(invitation_path(site, email))
    yield "invitation"
    page.locator("#password").fill(PASSWORD)
    _submit(page, "^='/account/invitation/'")


def _key_states(page: Any, site: Site) -> Iterator[str]:
    page.wait_for_url("**/account/keys")
    yield "keys, none"
    for number, label in enumerate(["my laptop", "编辑器 " + "W" * 80, "third", "fourth", "fifth"]):
        page.goto("/account/keys")
        page.locator("#label").fill(label)
        page.locator("#expires").select_option("30" if number == 1 else "never")
        _submit(page, "='/account/keys'")
        if number == 0:
            yield "key, new"
            page.locator("form[data-test] button").click()
            page.locator(".result.good").wait_for()
            yield "key, tested"
            secret = page.locator("#secret").text_content()
            assert [site[1].search("mail", secret).status for _ in range(20)] == [200] * 20
            page.reload()
            yield "key, secret already shown"
        if number == 1:
            _reject_label(page)
            yield "keys, rejected label"
    page.goto("/account/keys")
    page.locator(".spent").wait_for()
    yield "keys, a quota spent, no place for another"
    page.locator("a[href$='/rename']").first.click()
    page.wait_for_url("**/rename")
    wait_for_focus(page, "label")
    yield "rename"
    _submit(page, "$='/rename'")
    yield "keys, renamed"
    page.locator("a.danger").first.click()
    page.wait_for_url("**/revoke")
    yield "revoke"
    page.goto("/account/keys")
    _submit(page, "$='/rotate'")
    yield "key, rotated"


def _settings_states(page: Any, site: Site, email: str) -> Iterator[str]:
    # Another session, whose cookie the browser forgets.
    page.context.clear_cookies(name="session")
    page.goto("/account/sign-in?next=/account/sessions")
    page.locator("#email").fill(email)
    page.locator("#password").fill(PASSWORD)
    _submit(page, "='/account/sign-in'")
    page.wait_for_url("**/account/sessions")
    yield "sessions"
    _submit(page, "$='/end'")
    yield "sessions, one ended"
    page.goto("/account/password")
    wait_for_focus(page, "old")
    yield "account"
    page.locator("#old").fill("something else")
    page.locator("#password").fill(PASSWORD)
    _submit(page, "='/account/password'")
    wait_for_focus(page, "old")
    yield "account, password rejected"
    page.goto("/account/delete")
    yield "delete"
    page.locator("#old").fill("something else")
    page.locator("#confirmed").check()
    _submit(page, "='/account/delete'")
    yield "delete, rejected"
    page.locator("#old").fill(PASSWORD)
    page.locator("#confirmed").check()
    _submit(page, "='/account/delete'")
    page.wait_for_url("**/account/sign-in")
    yield "account deleted"


def _reject_label(page: Any) -> None:
    """Send a label that the browser accepts and the server does not."""
    page.goto("/account/keys")
    page.evaluate("document.getElementById('label').removeAttribute('required')")
    _submit(page, "='/account/keys'")
    wait_for_focus(page, "label")
    assert page.locator("#label").get_attribute("aria-invalid") == "true"


def wait_for_focus(page: Any, element_id: str) -> None:
    """Wait until an element has the focus: a browser moves it after the page is loaded."""
    page.locator(f"#{element_id}:focus").wait_for()


def wait_for_drawing(page: Any) -> None:
    """Wait until the browser has drawn the page; it sets the first focus before."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def _connect_states(page: Any) -> Iterator[str]:
    page.goto("/account/connect")
    yield "connect"
    page.locator(".chooser").get_by_role("button", name="Cursor").click()
    page.locator(".variables summary").first.click()
    yield "connect, Cursor"
    page.locator(".chooser select").select_option("goose")
    yield "connect, Goose"
    page.locator("#key").fill("mcpd_none")
    page.locator("form[data-test] button").click()
    page.locator(".result.bad").wait_for()
    yield "connect, key rejected"
    # Submit the form as a browser without scripts does.
    page.evaluate("document.querySelector('form[data-test]').removeAttribute('target')")
    page.evaluate("document.querySelector('form[data-test]').submit()")
    page.wait_for_url("**/account/connect/test")
    yield "test page, key rejected"


def _submit(page: Any, action: str) -> None:
    with page.expect_navigation():
        page.locator(f"form[action{action}] button[type=submit]").first.click()

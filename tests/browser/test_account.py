"""Browser tests of the account pages."""

from __future__ import annotations

import json
import tomllib
from typing import Any

from ._states import PASSWORD, invitation_path
from .conftest import Open, Site


def accept_invitation(page: Any) -> None:
    """Accept the invitation on the page."""
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Set password and sign in").click()
    page.wait_for_url("**/account/keys")


def test_create_use_rotate_and_revoke_a_key_without_script(site: Site, open_page: Open) -> None:
    _, server = site
    page = open_page(invitation_path(site, "ann@example.org"), java_script_enabled=False)
    accept_invitation(page)

    page.get_by_label("Label").fill("my laptop")
    page.get_by_role("button", name="Create key").click()
    secret = page.locator("#secret").inner_text().strip()
    configuration = json.loads(
        page.locator(".without-key .setup > pre code, .without-key .setup > .code code").first.inner_text()
    )
    editor = configuration["servers"]["mcp-directory"]
    assert editor["url"] == f"{server.url}/api/open/mcp"
    # No file has the key: VS Code asks for it.
    assert editor["headers"]["Authorization"] == f"Bearer ${{input:{configuration['inputs'][0]['id']}}}"

    assert page.url.endswith("/secret")

    test = page.get_by_role("button", name="Test", exact=True)
    with page.context.expect_page() as opened:
        test.click()
    opened.value.get_by_role("status").get_by_text(
        "The key works. Available tools: search_mcp, get_mcp_detail"
    ).wait_for()

    assert server.call_tool("search_mcp", {"keywords": "github"}, secret)["isError"] is False
    page.reload()
    page.get_by_role("heading", name="Secret already shown").wait_for()
    assert secret not in page.content()
    page.get_by_role("link", name="View API keys").click()
    page.get_by_text("Last 60 minutes: 1 of 20").wait_for()
    assert page.get_by_role("button", name="Rotate secret").count() == 1
    assert secret not in page.content()

    page.get_by_role("button", name="Rotate secret").click()
    second = page.locator("#secret").inner_text().strip()
    assert second != secret
    assert server.search("github", second).status == 200
    page.goto("/account/keys")
    page.get_by_text("Last 60 minutes: 2 of 20").wait_for()

    page.get_by_role("link", name="Revoke").click()
    page.get_by_role("button", name="Revoke").click()
    page.wait_for_url("**/account/keys")
    page.get_by_text("Key revoked.").wait_for()
    page.get_by_text("You have no keys yet.").wait_for()
    # A reload sends no form again and shows the confirmation no more.
    page.reload()
    assert page.get_by_text("Key revoked.").count() == 0
    assert [server.search("github", each).status for each in (secret, second)] == [401, 401]

    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/account/sign-in")
    page.goto("/account/keys")
    page.get_by_label("E-mail address").fill("ann@example.org")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/account/keys")


def test_copy_buttons_copy_the_displayed_text(site: Site, open_page: Open) -> None:
    page = open_page(invitation_path(site, "bob@example.org"), permissions=["clipboard-read", "clipboard-write"])
    accept_invitation(page)
    page.get_by_label("Label").fill("my laptop")
    page.get_by_role("button", name="Create key").click()
    page.wait_for_url("**/secret")
    assert_copies(page, page.locator("#secret").locator("xpath=..").get_by_role("button"), page.locator("#secret"))
    for path in (None, "/account/connect"):
        if path:
            page.goto(path)
        for name in ("Codex", "VS Code"):
            page.locator(".chooser").get_by_role("button", name=name).click()
            code = page.locator(".setup > .code:visible")
            assert_copies(page, code.get_by_role("button"), code.locator("[data-copyable]"))
            text = code.locator("[data-copyable]").text_content()
            assert "mcp-directory" in str((tomllib.loads if name == "Codex" else json.loads)(text))


def assert_copies(page: Any, button: Any, element: Any) -> None:
    """Check that `button` copies the text of `element` and confirms it."""
    page.evaluate("navigator.clipboard.writeText('')")
    # The confirmation disappears after two seconds.
    button.evaluate(
        """button => {
            window.confirmed = false;
            const observer = new MutationObserver(() => { window.confirmed ||= button.textContent === "Copied"; });
            observer.observe(button, { childList: true });
        }"""
    )
    button.click()
    page.wait_for_function("() => window.confirmed")
    assert page.evaluate("navigator.clipboard.readText()") == element.text_content()

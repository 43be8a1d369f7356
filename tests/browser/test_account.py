"""From an invitation to a key that is used and revoked, in a browser."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

import pytest

from ..process.conftest import Installation, Server
from .conftest import Open

PASSWORD = "correct horse battery"


def invited(served: tuple[Installation, Server], email: str) -> str:
    """Return the path of an invitation."""
    return urlsplit(served[0].command("account", "add", email).strip()).path


def entered(page: Any) -> None:
    """Take the invitation up that a page shows."""
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Set the password and sign in").click()
    page.wait_for_url("**/account/keys")


@pytest.mark.parametrize("scripts", [True, False], ids=["script", "no script"])
def test_a_person_gets_a_key_uses_it_and_ends_it(
    served: tuple[Installation, Server], open_page: Open, scripts: bool
) -> None:
    _, server = served
    page = open_page(invited(served, f"ann{int(scripts)}@example.org"), java_script_enabled=scripts)
    entered(page)

    page.get_by_label("Label").fill("my laptop")
    page.get_by_role("button", name="Make a key").click()
    secret = page.locator("#secret").inner_text().strip()
    configuration = json.loads(page.locator("#for-vscode").inner_text())
    editor = configuration["servers"]["mcp-directory"]
    assert editor["url"] == f"{server.url}/api/open/mcp"
    assert editor["headers"]["Authorization"] == f"Bearer {secret}"

    test = page.get_by_role("button", name="Test", exact=True)
    if scripts:
        test.click()
        result = page.locator(".result")
    else:
        with page.context.expect_page() as opened:
            test.click()
        result = opened.value.get_by_role("status")
    result.get_by_text("The key works. The directory offers: search_mcp, get_mcp_detail").wait_for()

    assert server.call("search_mcp", {"keywords": "github"}, secret)["isError"] is False
    page.goto("/account/keys")
    page.get_by_text("1 of 20 used.").wait_for()
    assert secret not in page.content()

    page.get_by_role("button", name="New secret").click()
    second = page.locator("#secret").inner_text().strip()
    assert second != secret
    assert server.search("github", second).status == 200
    page.goto("/account/keys")
    page.get_by_text("2 of 20 used.").wait_for()

    page.get_by_role("link", name="Revoke").click()
    page.get_by_role("button", name="Revoke").click()
    page.wait_for_url("**/account/keys")
    page.get_by_text("You have no key yet.").wait_for()
    assert [server.search("github", each).status for each in (secret, second)] == [401, 401]

    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/account/sign-in")
    page.goto("/account/keys")
    page.get_by_label("E-mail address").fill(f"ann{int(scripts)}@example.org")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/account/keys")


def test_a_key_that_does_not_open_is_told_where_one_is_tried(
    served: tuple[Installation, Server], open_page: Open
) -> None:
    page = open_page(invited(served, "bob@example.org"))
    entered(page)
    page.goto("/account/connect")
    page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    page.get_by_role("button", name="Copy").first.click()
    page.get_by_role("button", name="Copied").wait_for()
    assert (
        "${input:directory-key}"
        in json.loads(page.evaluate("copied"))["servers"]["mcp-directory"]["headers"]["Authorization"]
    )

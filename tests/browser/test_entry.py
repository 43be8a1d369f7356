"""The page of an entry in a browser: the remembered editor, printing, keyboard, and reports without scripts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from directory_server.client_config import EDITORS

from ._states import FULL_ENTRY
from .conftest import Open, Site


@pytest.fixture
def entry_path(site: Site) -> str:
    """Import an entry with all fields; return the path of its page."""
    site[0].command("import", "-", stdin=json.dumps(FULL_ENTRY))
    name = json.loads(site[0].command("entry", "show", FULL_ENTRY["server"]["name"]))
    return f"/servers/{name['mcp_id']}"


def shown(page: Any) -> set[str]:
    """Return the editors whose steps are not hidden."""
    found: list[str] = page.locator("[data-editor]:not([hidden])").evaluate_all(
        "elements => elements.map((element) => element.dataset.editor)"
    )
    return set(found)


def test_the_chosen_editor_is_shown_on_the_next_page(open_page: Open, entry_path: str) -> None:
    page = open_page(entry_path)
    assert shown(page) == {"vscode"}
    # With the keyboard.
    page.locator(".chooser").get_by_role("link", name="Codex", exact=True).press("Enter")
    page.locator("[data-editor=codex]").first.wait_for()
    assert shown(page) == {"codex"}
    assert page.get_by_role("button", name="Copy").first.is_visible()
    page.locator(".chooser summary").click()
    page.locator(".chooser").get_by_role("link", name="Qwen Code").click()
    page.locator("[data-editor=qwen]").first.wait_for()
    page.goto(entry_path)
    assert shown(page) == {"qwen"}
    page.evaluate("document.cookie = 'editor=unknown; path=/'")
    page.reload()
    assert shown(page) == {"vscode"}


def test_every_configuration_is_reachable_without_scripts(open_page: Open, entry_path: str) -> None:
    page = open_page(entry_path, java_script_enabled=False)
    editors = page.locator(".chooser a").evaluate_all("links => links.map((link) => link.search)")
    assert len(editors) == len(EDITORS)
    page.locator(".chooser summary").click()
    page.locator(".chooser").get_by_role("link", name="Zed").click()
    page.wait_for_url("**?editor=zed#install")
    assert shown(page) == {"zed"}
    assert page.locator("details.way[open] pre").last.is_visible()
    assert page.get_by_role("button", name="Copy").count() == 0


def test_install_links_open_an_editor_and_no_page(open_page: Open, entry_path: str) -> None:
    page = open_page(entry_path)
    links = page.locator(".install-links a").evaluate_all("links => links.map((link) => link.protocol)")
    assert {*links} <= {"vscode:", "vscode-insiders:", "cursor:", "lmstudio:"}
    assert links.count("vscode:") == page.locator(".way").count()


def test_a_report_is_sent_without_script(site: Site, open_page: Open, entry_path: str) -> None:
    page = open_page(entry_path, java_script_enabled=False)
    page.get_by_role("link", name="Report this entry").click()
    page.wait_for_url("**/report")
    page.get_by_label("Reason").select_option("Another reason")
    page.get_by_role("button", name="Send report").click()
    error = page.get_by_role("alert")
    error.wait_for()
    assert error.inner_text() == "Describe the reason."
    assert page.get_by_label("Reason").input_value() == "other"
    text = "It does not start."
    page.get_by_label("Details").fill(text)
    page.get_by_role("button", name="Send report").click()
    page.wait_for_url("**/report/sent")
    page.get_by_role("status").get_by_text("Report sent.").wait_for()
    assert text in {each["text"] for each in json.loads(site[0].command("report", "list", "--json"))}
    page.get_by_role("link", name="Back to").click()
    page.wait_for_url(f"**{entry_path}")

"""The page of an entry in a browser: the remembered editor, printing, keyboard, and reports without scripts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ._states import FULL_ENTRY
from .conftest import Open, Site


@pytest.fixture
def entry_path(site: Site) -> str:
    """Import an entry with all fields; return the path of its page."""
    site[0].command("import", "-", stdin=json.dumps(FULL_ENTRY))
    name = json.loads(site[0].command("entry", "show", FULL_ENTRY["server"]["name"]))
    return f"/servers/{name['mcp_id']}"


def opened(page: Any) -> list[str]:
    """Return the editors whose configuration is open."""
    found: list[str] = page.locator("details[data-editor][open]").evaluate_all(
        "elements => elements.map((element) => element.dataset.editor)"
    )
    return found


def test_the_editor_that_was_opened_last_is_open_on_the_next_page(open_page: Open, entry_path: str) -> None:
    page = open_page(entry_path)
    assert opened(page) == ["vscode", "vscode"]
    # With the keyboard: a summary gets the focus, and Enter opens it.
    summary = page.locator("[data-editor=codex] summary").first
    summary.focus()
    summary.press("Enter")
    assert opened(page) == ["codex", "vscode"]
    page.reload()
    assert opened(page) == ["codex", "codex"]
    # An editor that cannot use the server leaves the first one open.
    page.evaluate("localStorage.setItem('editor', 'unknown')")
    page.reload()
    assert opened(page) == ["vscode", "vscode"]


def test_every_configuration_is_reachable_without_scripts(open_page: Open, entry_path: str) -> None:
    page = open_page(entry_path, java_script_enabled=False)
    for editor in page.locator("details[data-editor]").all():
        if editor.get_attribute("open") is None:
            editor.locator("summary").click()
        assert editor.locator("pre").first.is_visible()
    assert page.get_by_role("link", name="Install in VS Code", exact=True).first.is_visible()
    assert page.get_by_role("button", name="Copy").count() == 0


def test_printing_opens_the_configuration_and_hides_what_paper_cannot_do(open_page: Open, entry_path: str) -> None:
    page = open_page(entry_path)
    page.locator("[data-editor=vscode][open] summary").first.click()
    assert opened(page) == ["vscode"]
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert opened(page) == ["vscode", "vscode"]
    for code in page.locator("details[open] [data-copyable]").all():
        assert code.is_visible()
    for hidden in (".install-links", ".copy", ".site-header", "[data-editor=zed]", ".report"):
        assert not page.locator(hidden).first.is_visible()


def test_install_links_open_an_editor_and_no_page(open_page: Open, entry_path: str) -> None:
    page = open_page(entry_path)
    links = page.locator(".install-links a").evaluate_all("links => links.map((link) => link.protocol)")
    assert links == ["vscode:", "vscode-insiders:", "cursor:"] * 2


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

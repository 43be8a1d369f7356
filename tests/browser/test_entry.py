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


def shown(page: Any) -> set[str]:
    """Return the editors whose steps are visible."""
    found: list[str] = page.locator("[data-editor]:visible").evaluate_all(
        "elements => elements.map((element) => element.dataset.editor)"
    )
    return set(found)


def test_the_chosen_editor_is_shown_on_the_next_page(open_page: Open, entry_path: str) -> None:
    page = open_page(entry_path)
    assert shown(page) == {"vscode"}
    # With the keyboard.
    page.locator(".chooser").get_by_role("button", name="Codex").press("Enter")
    assert shown(page) == {"codex"}
    page.locator(".chooser select").select_option("qwen")
    assert shown(page) == {"qwen"}
    page.reload()
    assert shown(page) == {"qwen"}
    page.evaluate("localStorage.setItem('editor', 'unknown')")
    page.reload()
    assert shown(page) == {"vscode"}


def test_every_configuration_is_reachable_without_scripts(open_page: Open, entry_path: str) -> None:
    page = open_page(entry_path, java_script_enabled=False)
    page.locator("details.way").first.wait_for()
    for setup in page.locator("details.way[open] details.setup").all():
        if setup.get_attribute("open") is None:
            setup.locator("summary").click()
        assert setup.locator("pre").last.is_visible()
    assert page.get_by_role("button", name="Copy").count() == 0
    assert not page.locator(".chooser").is_visible()


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

"""Names of client programs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from directory_server.domain.keys import MAX_NAME
from directory_server.web.key_uses import client_name, mcp_client_name

SAFARI = "Mozilla/5.0 ({}) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0{} Safari/605.1.15"
CHROME = "Mozilla/5.0 ({}) AppleWebKit/537.36 (KHTML, like Gecko) {}/131.0.0.0{} Safari/537.36{}"
LINUX, WINDOWS, MAC = "X11; Linux x86_64", "Windows NT 10.0; Win64; x64", "Macintosh; Intel Mac OS X 10_15_7"


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        (None, ""),
        ("", ""),
        ("curl/8.5.0", "curl"),
        ("python-httpx/0.27.0", "python-httpx"),
        ("node", "node"),
        ("claude-code/1.0.3 (cli)", "claude-code"),
        ("Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0", "Firefox (Linux)"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) FxiOS/132.0 Safari/605.1.15", "Firefox (iOS)"),
        (CHROME.format(LINUX, "Chrome", "", ""), "Chrome (Linux)"),
        (CHROME.format(LINUX, "HeadlessChrome", "", ""), "Chrome (Linux)"),
        (CHROME.format("Linux; Android 10; K", "Chrome", " Mobile", ""), "Chrome (Android)"),
        (CHROME.format("X11; CrOS x86_64 14541.0.0", "Chrome", "", ""), "Chrome (ChromeOS)"),
        (CHROME.format(WINDOWS, "Chrome", "", " Edg/131.0.0.0"), "Edge (Windows)"),
        (CHROME.format(MAC, "Chrome", "", " OPR/116.0.0.0"), "Opera (macOS)"),
        (CHROME.format(MAC, "Code/1.95.0 Chrome", " Electron/32.2.1", ""), "Visual Studio Code (macOS)"),
        (SAFARI.format(MAC, ""), "Safari (macOS)"),
        (SAFARI.format("iPhone; CPU iPhone OS 18_0 like Mac OS X", " Mobile/15E148"), "Safari (iOS)"),
        ("Mozilla/5.0", "Mozilla"),
        ("(comment only)", ""),
        ("é", ""),
        ("<script>alert(1)</script>", ""),
    ],
)
def test_programs_have_their_usual_names(user_agent: str | None, name: str) -> None:
    assert client_name(user_agent) == name


@pytest.mark.parametrize(
    ("info", "name"),
    [
        ({"name": "claude-code", "version": "1"}, "claude-code"),
        ({"name": "claude-code", "title": "Claude Code"}, "Claude Code"),
        ({"name": "x", "title": ""}, "x"),
        ({"name": "a\u202eb\x1b[31m\nc"}, "ab\ufffd[31m c"),
        ({"name": "x" * 1_000}, "x" * 59 + "…"),
        ({"name": 7, "title": ["x"]}, ""),
        ({}, ""),
        (None, ""),
        ("x", ""),
        ([], ""),
    ],
)
def test_the_name_of_an_mcp_client_is_cleaned_and_bounded(info: Any, name: str) -> None:
    assert mcp_client_name(info) == name


@given(st.text(st.characters(max_codepoint=255)))
def test_any_header_yields_a_short_printable_name(user_agent: str) -> None:
    for text in (user_agent, f"Mozilla/5.0 {user_agent}"):
        found = client_name(text)
        assert len(found) <= MAX_NAME
        assert found.isprintable()

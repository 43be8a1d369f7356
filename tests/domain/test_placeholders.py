"""Placeholders among entries."""

from __future__ import annotations

from typing import Any

import pytest

from directory_server.domain.entries import PUBLISHER, Entry
from directory_server.domain.placeholders import MAX_TEXT, is_placeholder


def entry(brief: str, **publisher: Any) -> Entry:
    return Entry(
        {
            "name": "org.example/send-email",
            "title": "Send email",
            "version": "1.0.0",
            "description": brief,
            "_meta": {PUBLISHER: publisher},
        }
    )


@pytest.mark.parametrize(
    "brief",
    [
        "",
        "...",
        "Description of my MCP server",
        "test",
        "Hello World!",
        "A Model Context Protocol server",
        "A non functional MCP server (yet)",
        "An MCP server that provides [describe what your server does]",
        "[](https://example.org/mcp/servers/send-email) 🐍 ☁️",
        '<p align="center">TODO</p>',
        "テスト",
    ],
)
def test_a_text_of_a_template_says_nothing(brief: str) -> None:
    assert is_placeholder(entry(brief))


@pytest.mark.parametrize(
    "brief",
    [
        "Sends email",
        "MCP server for TestDino",
        "Official Notion MCP server",
        "Slack MCP",
        "Go implementation of MCP",
        "블로그 자동화 도구",
        "支付宝 MCP Server",
        "test " * MAX_TEXT,
    ],
)
def test_a_short_description_is_content(brief: str) -> None:
    assert not is_placeholder(entry(brief))


def test_other_texts_and_tools_are_content() -> None:
    assert not is_placeholder(entry("test", longDescription="Sends email"))
    assert not is_placeholder(entry("test", descriptions={"zh": "发送邮件"}))
    assert not is_placeholder(entry("test", alternativeDescriptions=["Sends email"]))
    assert not is_placeholder(entry("test", tools=[{"name": "send"}]))
    assert is_placeholder(entry("test", longDescription="test", alternativeDescriptions=[1, "hello"], tools=[3]))
    assert is_placeholder(entry("test", alternativeDescriptions="Sends email"))

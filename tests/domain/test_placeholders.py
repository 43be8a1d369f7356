"""Placeholders among entries."""

from __future__ import annotations

from typing import Any

import pytest

from directory_server.domain.entries import PUBLISHER, Entry
from directory_server.domain.placeholders import MAX_TEXT, MIN_STARS, is_placeholder


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


PRAISE = [
    "Integrate external data and tools seamlessly with your LLM applications.",
    "Enhance your applications with dynamic integration of real-world data and tools. Connect your LLMs to resources.",
    "A Model Context Protocol server built with mcp-framework, designed for easy tool integration and deployment.",
    "Facilitates seamless integration with Claude Desktop through a robust MCP server implementation.",
    "Provide a basic MCP server implementation with minimal features for testing purposes.",
]


@pytest.mark.parametrize("brief", PRAISE)
def test_praise_that_is_true_of_every_server_says_nothing(brief: str) -> None:
    assert is_placeholder(entry(brief))
    assert is_placeholder(entry(brief, stars=MIN_STARS - 1))
    assert not is_placeholder(entry(brief, stars=MIN_STARS))
    assert not is_placeholder(entry(brief, tools=[{"name": "send"}]))


def test_a_brief_that_was_cut_has_no_more_than_the_whole_text() -> None:
    whole = "Integrate external data and tools seamlessly with your LLM applications."
    assert is_placeholder(entry("Integrate external data and tools…", longDescription=whole))
    assert not is_placeholder(entry("Integrate external data and…", longDescription="Sends email"))


def test_stars_are_no_content_of_a_template() -> None:
    assert is_placeholder(entry("Description of my MCP server", stars=MIN_STARS))


@pytest.mark.parametrize(
    "brief",
    [
        "Sends email",
        "A TypeScript template for building MCP servers, designed for seamless integration with AI assistants.",
        "Python framework for building MCP servers and clients",
        "Facilitates seamless integration with Slack through a robust MCP server implementation.",
        "Enhance your applications with intelligent weather data.",
        "Desktop application for AI model interactions using the Model Context Protocol (MCP).",
        "A comprehensive Model Context Protocol (MCP) server that enables AI assistants to interact with yo…",
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

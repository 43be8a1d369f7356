"""Titles of entries, as publishers write them or derived from names."""

from __future__ import annotations

import pytest

from directory_server.domain.entries import MAX_NAME
from directory_server.domain.titles import display_title


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("com.fiatdock/fiatdock-mcp", "Fiatdock"),
        ("io.github.browsermcp/mcp", "Browser MCP"),
        ("io.github.BrowserMCP/mcp-server", "Browser MCP"),
        ("com.stripe/mcp", "Stripe MCP"),
        ("io.github.acme/mcp-server-github", "GitHub"),
        ("io.github.acme/gcp_pdf-to-json", "GCP PDF to JSON"),
        ("io.github.woladi/macos-vision-mcp", "macOS Vision"),
        ("io.github.acme/zebraFinder", "Zebra Finder"),
        ("io.github.acme/地图-mcp", "地图"),
        ("io.github.acme/i18n-p4-s3Sync", "i18n P4 S3 Sync"),
        ("io.github.acme/neo4j-1stDibs", "Neo4j 1st Dibs"),
        ("com.acme/docs-mcp", "Acme Docs"),
        ("com.acme/remote-mcp-server", "Acme MCP"),
        ("io.github.acme/ha-mcp", "Acme HA"),
        ("ai.smithery/test-mcp", "Test"),
        ("io.github.mcp/mcp", "MCP"),
        ("alone", "Alone"),
        ("-/-", "-/-"),
    ],
)
def test_a_title_is_derived_from_a_name(name: str, expected: str) -> None:
    assert display_title("", name) == expected


@pytest.mark.parametrize("title", ["mcp", "MCP Server", "MCP-Server", "acme/weather-mcp", "Weather-MCP", " "])
def test_a_title_that_says_nothing_is_replaced(title: str) -> None:
    assert display_title(title, "com.acme/weather-mcp") == "Weather"


@pytest.mark.parametrize("title", ["Weather", "mcp-weather", "Amap / 高德地图", "Client/Server Demo"])
def test_other_titles_are_kept(title: str) -> None:
    assert display_title(title, "com.acme/weather-mcp") == title


def test_the_length_is_bounded() -> None:
    assert len(display_title("", "a/" + "x-" * 99)) < MAX_NAME

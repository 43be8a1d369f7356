"""Namespaces that bear the name of the product."""

from __future__ import annotations

import pytest

from directory_server.domain.details import detail_of
from directory_server.domain.entries import Entry
from directory_server.domain.facts import facts_of, is_configurable, is_vendors_own
from directory_server.domain.namespaces import bears_product


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("io.github.grafana/mcp-grafana", True),
        ("io.github.github/github-mcp-server", True),
        ("io.github.salesforce-mcp/Salesforce-mcp", False),
        ("io.github.someone/mcp-grafana", False),
        ("io.github.someone/mcp-server", False),
        ("com.figma.mcp/mcp", True),
        ("com.hubspot.developer/HubSpot", True),
        ("com.notion/other", False),
        ("ai.smithery/smithery", False),
        ("com.notion/com", False),
        ("name", False),
        ("a/b", False),
    ],
)
def test_a_namespace_bears_the_product(name: str, expected: bool) -> None:
    assert bears_product(name) is expected


@pytest.mark.parametrize(("is_official", "expected"), [(True, True), (False, False)])
def test_only_a_listed_entry_is_the_vendors_own(is_official: bool, expected: bool) -> None:
    entry = Entry({"name": "com.figma/mcp", "version": "1", "description": "Designs."}, {}, is_official)
    assert is_vendors_own(facts_of(entry).bits) is expected


@pytest.mark.parametrize(
    ("remote", "expected"),
    [({"type": "streamable-http", "url": "https://mcp.example.org/"}, True), ({"type": "streamable-http"}, False)],
)
def test_an_entry_is_configurable_if_one_target_is(remote: dict[str, str], expected: bool) -> None:
    entry = Entry({"name": "a/b", "version": "1", "description": "Designs.", "remotes": [remote]})
    assert is_configurable(facts_of(entry).bits) is expected
    assert detail_of(entry).installable is expected

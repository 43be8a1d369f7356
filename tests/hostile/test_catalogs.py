"""Hostile manifests and cards of ARD: whatever a domain sends, entries within bounds and in its own namespace."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from directory_server.domain.details import detail_of
from directory_server.domain.errors import BadInput
from directory_server.domain.kinds import TYPES
from directory_server.mirror import UpstreamFailed
from directory_server.mirror._catalog_client import host_of, joined_url
from directory_server.mirror._catalog_documents import (
    MAX_KIND,
    agent_maps,
    card_entry,
    catalog_links,
    catalog_of,
    is_within,
    markup_manifest,
    read_catalog,
)
from directory_server.search import TextAnalysis
from directory_server.search.index.document import MAX_LETTERS, MAX_WORDS
from directory_server.search.index.packing import unpack
from directory_server.serialization import reversed_domain

from ..web.conftest import Server

OWNER = "acme.example"

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=10,
)

PARTS = st.text("ab.:-_/%\n\u202e\0", max_size=12)
DOMAINS = st.sampled_from(["acme.example", "ACME.example", "a.acme.example", "notacme.example", "example", "", "."])
KNOWN = ["application/mcp-server-card+json", "application/ai-catalog+json", *TYPES]
KINDS = st.sampled_from(KNOWN) | st.text(max_size=200)
NAMES = st.builds("{}/{}".format, st.sampled_from(["example.acme", "com.google", "example", "io.github.x"]), PARTS)

CARDS = JSON | st.fixed_dictionaries(
    {},
    optional={
        "name": NAMES | JSON,
        "version": st.text(max_size=300) | JSON,
        "description": st.text(max_size=200) | JSON,
        "title": st.text(max_size=200) | JSON,
        "remotes": JSON,
        "tools": st.lists(st.fixed_dictionaries({"name": st.text(max_size=20)}), max_size=3) | JSON,
        "url": st.text(max_size=20),
        "transport": st.sampled_from(["sse", "http"]) | JSON,
        "_meta": JSON,
        "skills": st.lists(st.fixed_dictionaries({"name": st.text(max_size=20)}), max_size=3) | JSON,
        "supportedInterfaces": JSON,
        "iconUrl": st.text(max_size=20),
    },
)

ENTRIES = JSON | st.fixed_dictionaries(
    {"identifier": st.builds("urn:air:{}:{}".format, DOMAINS, PARTS) | JSON, "type": KINDS | JSON},
    optional={
        "data": CARDS | st.builds("---\nname: {}\ndescription: {}\n---\n{}".format, *[st.text(max_size=20)] * 3),
        "url": st.text(max_size=20),
        "displayName": st.text(max_size=200) | JSON,
        "representativeQueries": st.lists(st.text(max_size=300) | JSON, max_size=9) | JSON,
        "capabilities": st.lists(st.text(max_size=200), max_size=50) | JSON,
        "tags": JSON,
        "updatedAt": st.sampled_from(["2026-01-01T00:00:00Z", "2026-01-01"]) | JSON,
    },
)


@settings(max_examples=100, deadline=None)
@given(st.lists(ENTRIES, max_size=4))
def test_entries_stay_in_the_namespace_of_their_domain(entries: list[Any]) -> None:
    catalog = catalog_of({"entries": entries})
    assert len(catalog.items) + len(catalog.rejected) == len(entries)
    for item in catalog.items:
        assert len(item.type) <= MAX_KIND
        assert item.type.isascii()
        if item.kind != "card" or item.data is None or not is_within(item.publisher, OWNER):
            continue
        try:
            entry = card_entry(item, item.data, lambda domain: is_within(domain, OWNER))
        except BadInput:
            continue
        assert is_within(reversed_domain(entry.name.partition("/")[0]).lower(), OWNER)
        assert not entry.is_official
        document = unpack(TextAnalysis()(entry))
        assert len(document.terms) <= MAX_WORDS
        assert sum(map(len, document.terms)) <= MAX_LETTERS
        detail_of(entry)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=300) | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_a_catalog_or_an_error(body: bytes) -> None:
    with suppress(UpstreamFailed):
        read_catalog(body)
    assert len(agent_maps(body)) <= 5
    assert len(catalog_links(body, b"ard")) <= 5
    assert not markup_manifest(body) or read_catalog(markup_manifest(body)).items is not None


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_text_is_joined_to_a_url(base: str, url: str) -> None:
    assert isinstance(host_of(joined_url(f"https://acme.example/{base}", url)), str)


def test_a_stuffed_manifest_shows_nothing_on_pages_and_in_searches(server: Server) -> None:
    """Claims are no text of an entry: nothing of them reaches a client, however they are written."""
    card = {"name": "example.acme/rain", "version": "1", "description": "Forecasts of rain and storms for cities."}
    claims = ["<script>alert(1)</script> forecast of rain", "\u202eforecast of storms\0", "forecast of rain " * 9_999]
    entry = {
        **{"identifier": "urn:air:acme.example:rain", "type": "application/mcp-server-card+json", "data": card},
        **{"representativeQueries": claims, "capabilities": claims},
    }
    (item,) = catalog_of({"entries": [entry]}).items
    found = card_entry(item, card, lambda domain: True)
    server.publish(found)
    _, key = server.new_key(limit=None)
    page = server.get(f"/servers/{found.mcp_id}", key=None)
    hits = server.get("/api/open/v1/search?keywords=alert+forecast", key=key)
    for body in (page.body, hits.body):
        assert b"alert(1)" not in body
        assert "\u202e".encode() not in body

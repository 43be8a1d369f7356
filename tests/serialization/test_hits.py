"""Records of hits: encoded, decoded, and joined to arrays."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from directory_server import serialization
from directory_server.domain.entries import mcp_id_of
from directory_server.domain.views import Hit

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
auth = st.sampled_from(["none", "key", "oauth", "unknown"])
runs = st.sampled_from([(), ("local",), ("local", "remote")])
hits = st.builds(Hit, st.builds(mcp_id_of, texts), texts, texts, texts, texts, auth, runs)

SAME = Hit(mcp_id_of("a/b"), "a/b", "Reads.", "https://example.org", "a/b")
TITLED = Hit(mcp_id_of("a/b"), 'The "B"\n', "Line\nbreak, \\", "", "a/b")


@given(hits, texts)
def test_a_record_has_the_hit_and_the_registered_name(hit: Hit, name: str) -> None:
    record = serialization.encode_hit(hit, name)
    assert serialization.decode_hit(record) == hit
    assert serialization.registered_name(record) == name


@pytest.mark.parametrize("hit", [SAME, TITLED])
def test_hits_are_decoded_when_they_are_read(hit: Hit) -> None:
    found = serialization.hits_of([serialization.encode_hit(hit, "a/b")])
    assert (len(found), list(found), found[0]) == (1, [hit], hit)


@given(st.lists(hits, max_size=3))
def test_listed_pages_have_the_listed_fields(given_hits: list[Hit]) -> None:
    records = [serialization.encode_hit(hit, hit.server_name) for hit in given_hits]
    expected = [{name: getattr(hit, name) for name in serialization.LISTED} for hit in given_hits]
    page = {"data": expected, "count": len(expected)}
    assert serialization.listed_page(records) == serialization.encode(page)


@given(st.lists(st.tuples(hits, st.sampled_from(["", "calendar, no key needed", 'a "b"'])), max_size=3))
def test_found_pages_have_the_known_facts_and_the_reason(given_hits: list[tuple[Hit, str]]) -> None:
    records = [serialization.encode_hit(hit, hit.server_name) for hit, _ in given_hits]
    encoded = serialization.found_page(serialization.hits_of(records, lambda: [reason for _, reason in given_hits]))
    expected = []
    for hit, reason in given_hits:
        item = {name: getattr(hit, name) for name in serialization.IDENTIFIED}
        others = {"auth": hit.auth if hit.auth != "unknown" else "", "runs": list(hit.runs), "matches": reason}
        expected.append({**item, **{name: value for name, value in others.items() if value}})
    assert json.loads(encoded) == {"success": True, "data": expected, "count": len(expected)}


def test_found_page_without_reasons() -> None:
    found = serialization.hits_of([serialization.encode_hit(SAME, "a/b")] * 2)
    assert len(json.loads(serialization.found_page(found))["data"]) == 2


def test_a_name_is_stored_once() -> None:
    assert json.loads(b"{%s}" % serialization.encode_hit(SAME, "a/b").removesuffix(b"\n\n")) == {
        "mcp_id": SAME.mcp_id,
        "name": "a/b",
        "brief": "Reads.",
        "website_url": "https://example.org",
    }

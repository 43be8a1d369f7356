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
def test_items_have_the_fields_of_their_api(given_hits: list[Hit]) -> None:
    records = [serialization.encode_hit(hit, hit.server_name) for hit in given_hits]
    items = {
        serialization.LISTED: serialization.listed_items(records),
        serialization.IDENTIFIED: serialization.identified_items(records),
    }
    for names, encoded in items.items():
        expected = [{name: getattr(hit, name) for name in names} for hit in given_hits]
        assert serialization.encode(encoded) == serialization.encode(expected)


def test_a_name_is_stored_once() -> None:
    assert json.loads(b"{%s}" % serialization.encode_hit(SAME, "a/b").removesuffix(b"\n\n")) == {
        "mcp_id": SAME.mcp_id,
        "name": "a/b",
        "brief": "Reads.",
        "website_url": "https://example.org",
    }

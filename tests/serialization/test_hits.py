"""Records of hits: encoded, decoded, and joined to arrays."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from directory_server import serialization
from directory_server.domain.entries import mcp_id_of
from directory_server.domain.views import Hit
from directory_server.serialization._hits import FULL

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
auth = st.sampled_from(["none", "key", "oauth", "unknown"])
runs = st.sampled_from([(), ("local",), ("local", "remote")])
stars, days = st.sampled_from([None, 0, 7]), st.sampled_from(["", "2026-05-11"])
hits = st.builds(
    Hit,
    *(st.builds(mcp_id_of, texts), texts, texts, texts, texts, auth, runs),
    summary=texts,
    vendor=st.booleans(),
    installable=st.booleans(),
    stars=stars,
    updated=days,
)

SAME = Hit(mcp_id_of("a/b"), "a/b", "Reads.", "https://a.example.org", "a/b")
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


@given(st.lists(st.tuples(hits, st.sampled_from(["", "no key needed, read-only", 'a "b"'])), max_size=3))
def test_the_first_hits_of_a_tool_have_the_known_facts_and_the_reason(given_hits: list[tuple[Hit, str]]) -> None:
    records = [serialization.encode_hit(hit, hit.server_name) for hit, _ in given_hits]
    encoded = serialization.found_page(serialization.hits_of(records, lambda: [reason for _, reason in given_hits]), {})
    items = json.loads(encoded)["data"]
    for item, (hit, reason) in zip(items, given_hits, strict=True):
        item.pop("server_name", "")
        assert [item.pop(name) for name in ("mcp_id", "name", "website_url")] == [hit.mcp_id, hit.name, hit.website_url]
        assert item.pop("brief") == hit.summary
        known = {
            "auth": hit.auth if hit.auth != "unknown" else "",
            **{"runs": list(hit.runs), "vendor": hit.vendor, "installable": hit.installable},
            **{"stars": hit.stars, "updated": hit.updated[:7], "matches": reason},
        }
        assert item == {name: value for name, value in known.items() if value}


BRIEF = "Reads mail, sends it and sorts it into folders, with rules and…"


@pytest.mark.parametrize(
    ("brief", "summary", "first", "later"),
    [
        ("Reads.", "Reads.", "Reads.", "Reads."),
        (BRIEF, BRIEF[:-1] + " filters.", BRIEF[:-1] + " filters.", BRIEF),
        ("Reads. " * 40, "Reads. Reads.", "Reads. Reads.", "Reads. Reads."),
        ('"brief":"x","website_url":"y"', 'A "brief":', 'A "brief":', 'A "brief":'),
    ],
)
def test_later_hits_have_no_facts_and_the_shorter_text(brief: str, summary: str, first: str, later: str) -> None:
    hit = Hit(mcp_id_of("a/b"), "a/b", brief, "https://example.org", "a/b", summary=summary, stars=7)
    records = [serialization.encode_hit(hit, "a/b")] * (FULL + 1)
    full, *_, last = json.loads(serialization.found_page(serialization.hits_of(records), {hit.mcp_id: 12}))["data"]
    assert (full["brief"], full["stars"], full["website_url"]) == (first, 7, "https://example.org")
    assert full["used_by"] == 12
    assert last == {"mcp_id": hit.mcp_id, "name": "a/b", "brief": later, "website_url": "https://example.org"}


def test_each_of_the_first_hits_has_the_registered_name_with_its_publisher() -> None:
    hit = Hit(mcp_id_of("io.github.acme/mail"), "Mail", "Reads.", "https://github.com/Acme/mail", "io.github.acme/mail")
    page = serialization.found_page(serialization.hits_of([serialization.encode_hit(hit, hit.server_name)]), {})
    (item,) = json.loads(page)["data"]
    assert item["server_name"] == "io.github.acme/mail"

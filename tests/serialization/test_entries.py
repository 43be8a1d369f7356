"""Entries: decoding, encoding and fingerprints."""

from __future__ import annotations

from typing import Any

import pytest

from directory_server import serialization
from directory_server.domain.details import detail_of
from directory_server.domain.entries import OFFICIAL, PUBLISHER, mcp_id_of
from directory_server.domain.errors import BadInput

SERVER = {"name": "io.github.a/b", "description": "Does things.", "version": "1.0.0"}


def test_bare_and_wrapped_server_are_the_same_entry() -> None:
    assert serialization.decode_entry(SERVER) == serialization.decode_entry({"server": SERVER, "_meta": {}})


def test_round_trip_keeps_all_members_in_order() -> None:
    value = {"server": {**SERVER, "zzz": [1, None], "aaa": {"b": 1.5}}, "_meta": {"x": {"y": "é"}}}
    entry = serialization.decode_entry(value)
    assert serialization.encode_entry(entry) == serialization.encode(value)


def test_fingerprint_ignores_the_order_of_members() -> None:
    one = serialization.decode_entry({**SERVER, "title": "T"})
    same = serialization.decode_entry({"title": "T", **dict(reversed(SERVER.items()))})
    other = serialization.decode_entry({**SERVER, "title": "t"})
    assert serialization.fingerprint(one) == serialization.fingerprint(same) != serialization.fingerprint(other)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "must be an object"),
        ({}, "server.name: is required"),
        ({"server": 1}, "server: must be an object"),
        ({"server": SERVER, "_meta": []}, "_meta: must be an object"),
        ({**SERVER, "name": 1}, "server.name: must be a string"),
        ({**SERVER, "name": " "}, "server.name: must be 1 to 200"),
        ({**SERVER, "name": "a\nb"}, "server.name: must be 1 to 200"),
        ({**SERVER, "name": "a" * 201}, "server.name: must be 1 to 200"),
        ({**SERVER, "version": ""}, "server.version: must not be empty"),
        ({**SERVER, "version": "1" * 256}, "server.version: must be 1 to 255"),
        ({**SERVER, "version": "1\0"}, "server.version: must be 1 to 255 printable characters"),
        ({**SERVER, "name": "a\0b"}, "server.name: must be 1 to 200"),
        ({**SERVER, "description": None}, "server.description: must be a string"),
        ({**SERVER, "x": "a" * 1_000_000}, "larger than 1,000,000 bytes"),
        ({**SERVER, "x": [[]] * 20_000}, "more than 20,000 JSON values"),
        ({**SERVER, "x": [{"y": [1, 2, 3]}] * 5_000}, "more than 20,000 JSON values"),
        ({"server": SERVER, "_meta": {str(number): {} for number in range(20_001)}}, "more than 20,000 JSON values"),
    ],
)
def test_invalid_entries_are_rejected(value: Any, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        serialization.decode_entry(value)


def test_strings_may_have_many_commas_and_brackets() -> None:
    readme = {**SERVER, "description": ",[{" * 50_000, "x": [1] * 19_000}
    assert serialization.decode_entry(readme).server == readme


def test_hit_of_an_entry() -> None:
    assert serialization.decode_entry(SERVER).hit().name == "io.github.a/b"
    titled = {**SERVER, "title": "T", "websiteUrl": "https://w", "repository": {"url": "https://r"}}
    hit = serialization.decode_entry(titled).hit()
    assert (hit.mcp_id, hit.name, hit.brief, hit.website_url) == (
        mcp_id_of("io.github.a/b"),
        "T",
        "Does things.",
        "https://w",
    )
    del titled["websiteUrl"]
    assert serialization.decode_entry(titled).hit().website_url == "https://r"
    assert serialization.decode_entry({**titled, "repository": {"url": ""}}).hit().website_url == ""


def test_mcp_ids_are_stable() -> None:
    assert mcp_id_of("io.github.modelcontextprotocol/servers") == "dec1c051-f8d4-5ed1-ac5f-15abd7a03dc1"
    assert mcp_id_of("A") != mcp_id_of("a")


def test_invalid_optional_members_are_ignored() -> None:
    odd = {
        **SERVER,
        "title": 7,
        "websiteUrl": None,
        "repository": "https://r",
        "packages": {"not": "a list"},
        "remotes": [1, {"type": "sse", "url": "https://s"}],
        "icons": "x",
        "_meta": {
            PUBLISHER: {
                "tags": ["a", 1, ""],
                "tools": [{"name": "t"}, {"x": 1}, 3],
                "descriptions": {"zh": "中", "ja": 1},
                "stars": True,
            }
        },
    }
    detail = detail_of(serialization.decode_entry({"server": odd, "_meta": {OFFICIAL: []}}))
    assert detail.name == "io.github.a/b"
    assert detail.website_url == ""
    assert detail.packages == detail.icons == ()
    assert detail.remotes == ({"type": "sse", "url": "https://s"},)
    assert detail.tags == ("a",)
    assert [tool.name for tool in detail.tools] == ["t"]
    assert detail.descriptions == {"zh": "中"}
    assert (detail.stars, detail.official, detail.status) == (None, False, "active")
    assert serialization.decode(serialization.encode(detail))["server"] == odd


def test_encoded_detail_is_bounded() -> None:
    packages = [{"registryType": "npm", "identifier": "x", "version": "\U0001f600" * 9_000} for _ in range(10)]
    detail = detail_of(serialization.decode_entry({**SERVER, "packages": packages}))
    assert len(serialization.encode(detail)) > serialization.MAX_DETAIL
    body = serialization.encode_detail(detail)
    assert len(body) < serialization.MAX_DETAIL
    assert serialization.decode(body)["omitted"] == [
        *("server", "install", "packages", "remotes", "icons", "tools", "verification")
    ]
    assert serialization.decode(body)["name"] == "io.github.a/b"

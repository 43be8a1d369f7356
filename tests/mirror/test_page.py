"""Pages of the registry API: parsing, URLs and file lists."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from directory_server import serialization
from directory_server.mirror import Upstream, UpstreamFailed
from directory_server.mirror._page import read

from .registry import encode_page, registry_entry

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["servers", "metadata", "nextCursor", "server", "name", "_meta"]), inner)
    ),
    max_leaves=12,
)


def test_parses_a_page() -> None:
    page = read(encode_page([registry_entry("x/a"), registry_entry("x/b")], "cursor"))
    assert [entry.name for entry in page.entries] == ["x/a", "x/b"]
    assert (page.next, page.rejected) == ("cursor", [])


def test_parses_the_next_cursor_of_early_registries() -> None:
    assert read(b'{"servers": [], "metadata": {"next_cursor": "cursor"}}').next == "cursor"


@given(st.binary(max_size=100) | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_a_page_or_an_error(body: bytes) -> None:
    try:
        page = read(body)
    except UpstreamFailed:
        return
    assert all(serialization.encode_entry(entry) for entry in page.entries)


@given(st.dictionaries(st.sampled_from(["name", "version", "description"]), JSON))
def test_an_invalid_entry_does_not_affect_others(server: dict[str, Any]) -> None:
    page = read(json.dumps({"servers": [{"server": server}, registry_entry("x/a")]}).encode())
    assert page.entries[-1].name == "x/a"
    assert len(page.entries) + len(page.rejected) == 2


BAD_VALUES = {
    "NaN": b"NaN",
    "infinity": b"-Infinity",
    "a large number": b"1e309",
    "a lone surrogate": b'"\\ud800"',
    "invalid UTF-8": b'"\xff"',
    "a member twice": b'{"a": 1, "a": 2}',
    "deep nesting": b"[" * 100 + b"]" * 100,
    "a control character": b'"\x01"',
    "no value": b"nul",
    "a quoted bracket": b'{"a": "]}\\"{[", "b": NaN}',
}


@pytest.mark.parametrize("bad", BAD_VALUES.values(), ids=BAD_VALUES)
def test_an_entry_that_is_not_json_does_not_affect_others(bad: bytes) -> None:
    good = [json.dumps(registry_entry(f"x/{letter}")).encode() for letter in "abc"]
    odd = json.dumps(registry_entry("x/odd")).encode().replace(b'"It rains."', bad)
    page = read(b' {"metadata": {"nextCursor": "c"}, "servers": [' + b", ".join([good[0], odd, *good[1:]]) + b"]}\n")
    assert [entry.name for entry in page.entries] == ["x/a", "x/b", "x/c"]
    (rejected,) = page.rejected
    assert page.next == "c"
    # Its name is known where a tolerant parser can read it: the entry has not disappeared.
    assert rejected.name == ("" if bad in (b"nul", b'"\x01"') else "x/odd")
    assert rejected.reason.startswith(f"{rejected.name or 'entry 2 of a page'}: The entry")


@pytest.mark.parametrize(
    "body",
    [
        b'{"servers": [{}, NaN], "metadata": NaN}',
        b'{"servers": [NaN], "servers": []}',
        b'{"servers": [NaN]',
        b'{"servers": [NaN]}}',
        b'{"servers": [NaN]} {}',
        b'{"servers": [NaN}',
        b'[{"servers": [NaN]}]',
        b'{"servers": NaN}',
        b"{5: [NaN]}",
        # A parser that tries again after each quote takes hours.
        b'{"servers": [NaN, "' + b'\\"' * 1_000_000 + b"]}",
    ],
    ids=range(10),
)
def test_a_page_that_is_invalid_outside_its_entries_is_an_error(body: bytes) -> None:
    with pytest.raises(UpstreamFailed, match="invalid JSON"):
        read(body)


def test_a_cursor_with_nul_is_rejected() -> None:
    with pytest.raises(UpstreamFailed, match="contains NUL"):
        read(b'{"servers": [], "metadata": {"nextCursor": "a\\u0000"}}')


def test_parses_real_pages(shared_data: Any) -> None:
    for path in sorted((shared_data / "registry_pages").glob("*.json")):
        page = read(path.read_bytes())
        assert len(page.entries) == len(json.loads(path.read_bytes())["servers"])
        assert page.rejected == []


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://r.example", "https://r.example/v0.1/servers?limit=100&include_deleted=true"),
        ("https://r.example/r/token/", "https://r.example/r/token/v0.1/servers?limit=100&include_deleted=true"),
        ("https://r.example/v0/servers", "https://r.example/v0/servers?limit=100&include_deleted=true"),
    ],
)
def test_the_list_url_of_an_upstream(url: str, expected: str) -> None:
    assert Upstream("a", url).page("", "") == expected


def test_a_cursor_is_quoted_in_the_url() -> None:
    page = Upstream("a", "https://r.example").page("a b&c=ü/", "2026-01-01T00:00:00Z")
    assert page.endswith("&cursor=a+b%26c%3D%C3%BC%2F&updated_since=2026-01-01T00%3A00%3A00Z")


@pytest.mark.parametrize(
    ("url", "is_file", "is_path"),
    [
        ("https://r.example/list.json", True, False),
        ("https://r.example/list.jsonl.gz?token=1", True, False),
        ("https://r.example/json", False, False),
        ("/var/lib/list.jsonl", True, True),
        ("list.txt", True, True),
    ],
)
def test_urls_and_paths_of_files_are_recognized(url: str, is_file: bool, is_path: bool) -> None:
    upstream = Upstream("a", url)
    assert (upstream.is_file, upstream.is_path) == (is_file, is_path)

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
        ("https://r.example", "https://r.example/v0.1/servers?version=latest&limit=100"),
        ("https://r.example/r/token/", "https://r.example/r/token/v0.1/servers?version=latest&limit=100"),
        ("https://r.example/v0/servers", "https://r.example/v0/servers?version=latest&limit=100"),
    ],
)
def test_the_list_url_of_an_upstream(url: str, expected: str) -> None:
    assert Upstream("a", url).page("", "") == expected


def test_a_cursor_is_quoted_in_the_url() -> None:
    page = Upstream("a", "https://r.example").page("a b&c=ü/", "2026-01-01T00:00:00Z")
    assert page.endswith("&cursor=a+b%26c%3D%C3%BC%2F&updated_since=2026-01-01T00%3A00%3A00Z&include_deleted=true")


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

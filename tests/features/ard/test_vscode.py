"""The requests of VS Code's catalog of customizations, as its source sends them, and what it needs of the answers.

Source: `agentFinderRestProvider.ts` in `src/vs/platform/agentFinder/common` of microsoft/vscode (version of 2026-11).
One wrong entry makes it reject the whole page.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from directory_server.domain.entries import PUBLISHER, Entry

from ...web.conftest import Server
from .test_registry import BASE, CARD_TYPE, public

PAGE, MAX_RESPONSE = 30, 5 * 1024 * 1024

MAX_TEXT, MAX_ITEMS, MAX_ITEM = 4_096, 32, 512

UNESCAPED = "!'()*-._~"
"""Characters that `encodeURIComponent` leaves, beside letters and digits."""


def read(server: Server, method: str, path: str, body: Any = None) -> Any:
    headers = {"Accept": "application/json"} | ({} if body is None else {"Content-Type": "application/json"})
    sent = b"" if body is None else json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    response = server.request(method, f"{BASE}{path}", key=None, headers=headers, body=sent)
    assert (response.status, len(response.body) <= MAX_RESPONSE) == (200, True), response.body[:500]
    return response.json


def check(item: Any) -> str:
    """Return the identifier of a result that is accepted."""
    for name in ("identifier", "displayName", "type"):
        assert isinstance(item[name], str)
        assert 0 < len(item[name].strip()) <= MAX_TEXT
    for name in ("description", "version"):
        assert len(item.get(name, "")) <= MAX_TEXT
    for name in ("tags", "capabilities", "representativeQueries"):
        assert len(item.get(name, [])) <= MAX_ITEMS
        assert all(len(text) <= MAX_ITEM for text in item.get(name, []))
    assert 0 <= item.get("score", 0) <= 100
    assert isinstance(item["metadata"]["serverName"], str)
    return str(item["identifier"])


def browse(server: Server, media_type: str = "") -> Iterator[str]:
    """Yield the identifiers of the list."""
    offset, total = 0, 1
    kind = f"&type={quote(media_type, safe=UNESCAPED)}" if media_type else ""
    while offset < total:
        page = read(server, "GET", f"/agents?pageSize={PAGE}&offset={offset}{kind}")
        total = page["total"]
        assert (page["offset"], page["pageSize"]) == (offset, PAGE)
        assert len(page["results"]) <= PAGE
        assert page["results"] if offset < total else offset + len(page["results"]) <= total
        yield from map(check, page["results"])
        offset += len(page["results"])


def search(server: Server, text: str, media_type: str = "") -> Iterator[str]:
    """Yield the identifiers of the results of a search."""
    query = {"text": text, **({"filter": {"type": [media_type]}} if media_type else {})}
    token: str | None = None
    while token != "":
        page = read(
            server, "POST", "/search", {"query": query, "pageSize": PAGE} | ({"pageToken": token} if token else {})
        )
        assert len(page["results"]) <= PAGE
        following = page.get("pageToken", "")
        assert not following or (len(following) <= 8_192 and following != token and page["results"])
        yield from map(check, page["results"])
        token = following


def lynxes(server: Server) -> int:
    server.publish(
        *(Entry({"name": f"com.acme/lynx-{n}", "version": "1.0.0", "description": "Tracks a lynx."}) for n in range(61))
    )
    return 61


@public
@pytest.mark.parametrize("media_type", ["", CARD_TYPE])
def test_the_catalog_lists_all_entries(server: Server, media_type: str) -> None:
    identifiers = [*browse(server, media_type)]
    count = len(identifiers) + lynxes(server)
    identifiers = [*browse(server, media_type)]
    assert (len(identifiers), len({*identifiers})) == (count, count)
    assert [*browse(server, "application/ai-skill")] == []


@public
@pytest.mark.parametrize("media_type", ["", CARD_TYPE])
def test_the_catalog_pages_through_a_search(server: Server, media_type: str) -> None:
    count = lynxes(server)
    identifiers = [*search(server, "lynx", media_type)]
    assert (len(identifiers), len({*identifiers})) == (count, count)
    whole = read(server, "POST", "/search", {"query": {"text": "lynx"}, "pageSize": 100})["results"]
    assert identifiers == [item["identifier"] for item in whole]
    assert [*search(server, "lynx", "application/ai-skill")] == []
    assert [*search(server, "qqqzzz " * 585)] == []


@public
def test_no_entry_makes_the_catalog_reject_a_page(server: Server) -> None:
    texts = ["x" * 5_000, *(f"tag {number}" for number in range(99))]
    claims = {"tags": texts, "capabilities": texts, "representativeQueries": texts, "longDescription": "lynx " * 9_999}
    meta = {"_meta": {PUBLISHER: claims}}
    description = "A lynx. " * 2_000
    server.publish(
        Entry({"name": "com.acme/lynx", "version": "9" * 300, "description": description, "title": " ", **meta}),
        Entry({"name": f"com.acme/{'l' * 4_000}", "version": "", "description": "", **meta}),
    )
    assert len([*search(server, "lynx")]) > 0
    assert len([*browse(server)]) == 4

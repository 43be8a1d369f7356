"""The change feed as pages: links, filters, limits and errors."""

from __future__ import annotations

from typing import Any

import pytest
from twisted.internet.defer import Deferred

from directory_server.tables import StoredEntries
from directory_server.web.changes._handler import FIRST_SCAN, MAX_CONCURRENT_PAGES, MAX_CONCURRENT_SCANS

from .change_feed import CHANGES, JSON, NAMES, log_id, page, prune, publish
from .conftest import POSTGRES, Server, entry, parse_response


def test_pages_are_linked_by_the_link_header(server: Server) -> None:
    publish(server, *(entry(name) for name in NAMES))
    pages = [response.json for response in server.pages(f"{CHANGES}?limit=2", headers=JSON)]
    seen = [each for found in pages for each in found["data"]]
    assert [found["count"] for found in pages] == [2, 2, 1]
    assert [each["seq"] for each in seen] == [1, 2, 3, 4, 5]
    assert seen[0] == {
        "seq": 1,
        "event": "entry.added",
        "mcp_id": POSTGRES.mcp_id,
        "name": "Postgres",
        "brief": "Query a Postgres database.",
        "website_url": "https://github.com/example/postgres-mcp",
    }
    end = f"5-{log_id(server)}"
    assert pages[-1]["next"] == end
    last = page(server, f"?since={end}")
    assert (last.json, last.headers["Link"]) == ({"data": [], "count": 0, "next": end}, None)
    assert last.headers["Content-Type"] == "application/json"


def test_a_filtered_page_is_filled_from_several_scans(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, size in (("FIRST_SCAN", 4), ("SCAN_SIZE", 40)):
        monkeypatch.setattr(f"directory_server.web.changes._handler.{name}", size)
    publish(server, *(entry(f"y/{number}") for number in range(100)))
    publish(server, *(entry(name, "Postgres.") for name in NAMES))
    response = page(server, "?keywords=postgres&limit=3")
    assert [each["seq"] for each in response.json["data"]] == [1, 103, 104]
    end = f"104-{log_id(server)}"
    assert response.json["next"] == end
    assert response.headers["Link"] == f'<{CHANGES}?since={end}&keywords=postgres&limit=3>; rel="next"'
    assert page(server, "?since=104&keywords=postgres&limit=3").json["count"] == 1


def test_a_filtered_page_may_be_short(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("directory_server.web.changes._handler.MAX_SCANNED", 10)
    publish(server, *(entry(f"y/{number}") for number in range(20)))
    response = page(server, "?keywords=postgres&since=2")
    assert response.json == {"data": [], "count": 0, "next": f"12-{log_id(server)}"}
    assert response.headers["Link"]


@pytest.mark.parametrize("since", [0, 9])
def test_a_page_at_a_position_outside_the_log_is_410(server: Server, since: int) -> None:
    publish(server, *(entry(name) for name in NAMES))
    prune(server, 2)
    response = page(server, f"?since={since}")
    assert (response.status, response.json["error"]) == (410, "reset")
    assert f"Cannot continue from change {since}" in response.json["message"]
    assert response.headers["X-RateLimit-Remaining"] == "20"
    assert [each["seq"] for each in page(server).json["data"]] == [3, 4, 5]


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        (None, "application/json"),
        ("", "application/json"),
        ("*/*", "application/json"),
        ("text/*", "application/json"),
        ("text/event-stream", "text/event-stream"),
        ("Text/Event-Stream; charset=utf-8", "text/event-stream"),
        ("text/event-stream, */*;q=0.1", "text/event-stream"),
        ("application/json;q=0.5, text/event-stream", "text/event-stream"),
        ("application/json, text/event-stream", "application/json"),
        ("application/json, text/event-stream;q=0.9", "application/json"),
        ("text/event-stream;q=0", "application/json"),
        ("application/json", "application/json"),
        ("application/json;q=0.9, */*;q=0.1", "application/json"),
        (",;=;q=x,\xff/\xff", "application/json"),
    ],
)
def test_accept_selects_stream_or_page(server: Server, accept: str | None, kind: str) -> None:
    response = parse_response(
        server.open("GET", CHANGES, headers={} if accept is None else {"Accept": accept}).received()
    )
    assert (response.status, response.headers["Content-Type"]) == (200, kind)


@pytest.mark.parametrize("accept", ["*/*", "text/event-stream"])
def test_pages_and_streams_accept_limit(server: Server, accept: str) -> None:
    response = parse_response(server.open("GET", f"{CHANGES}?since=0&limit=100", headers={"Accept": accept}).received())
    assert response.status == 200


def test_pages_of_large_changes_are_limited_in_bytes(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("directory_server.web.changes._handler.PAGE_BYTES", 2_000)
    publish(server, *(entry(f"y/{number}", "It rains. " * 30) for number in range(20)))
    seen = []
    for response in server.pages(f"{CHANGES}?since=2&limit=1000", key=server.new_key(limit=None)[1]):
        seen += [each["seq"] for each in response.json["data"]]
        assert len(response.body) < 2_600
        assert response.json["next"].startswith(f"{seen[-1]}-")
    assert seen == list(range(3, 23))


@pytest.mark.parametrize(
    ("query", "headers", "message"),
    [
        ("?since=x", {}, "since: must be the seq of a change"),
        ("", {"Last-Event-ID": "\xff"}, "Last-Event-ID: must be the seq of a change"),
        ("?limit=1001", JSON, "limit: must be a whole number from 1 to 1000"),
        ("?keywords=", {}, "keywords: is required"),
        ("?cursor=x", JSON, "'cursor'; allowed: since, keywords, limit"),
    ],
)
def test_invalid_parameters_are_not_charged(server: Server, query: str, headers: dict[str, str], message: str) -> None:
    response = server.get(CHANGES + query, headers=headers)
    assert (response.status, response.json["error"]) == (400, "bad_request")
    assert message in response.json["message"]
    assert response.headers["X-RateLimit-Remaining"] == "20"


def test_pages_with_keywords_do_not_delay_others(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.site.connections._limit = 100

    waiting: list[Deferred[None]] = []
    changes = StoredEntries.changes

    async def slow(self: StoredEntries, since: int, limit: int) -> Any:
        if limit == FIRST_SCAN:
            waiting.append(Deferred())
            await waiting[-1]
        return await changes(self, since, limit)

    monkeypatch.setattr(StoredEntries, "changes", slow)
    headers = {"Accept": "application/json"}
    scans = [
        server.open("GET", f"{CHANGES}?keywords=mail", headers=headers, address=f"192.0.2.{number}")
        for number in range(6)
    ]
    assert len(waiting) == MAX_CONCURRENT_SCANS
    page = server.open("GET", f"{CHANGES}?limit=3", headers=headers)
    assert parse_response(page.received()).status == 200
    assert [each.received() for each in scans] == [b""] * 6
    for each in waiting:
        if not each.called:
            each.callback(None)
    assert all(parse_response(each.received()).status == 200 for each in scans)


def test_concurrent_pages_are_limited(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.site.connections._limit = 100

    waiting: list[Deferred[None]] = []
    changes = StoredEntries.changes

    async def slow(self: StoredEntries, since: int, limit: int) -> Any:
        waiting.append(Deferred())
        await waiting[-1]
        return await changes(self, since, limit)

    monkeypatch.setattr(StoredEntries, "changes", slow)
    keys = [server.new_key(limit=None)[1] for _ in range(MAX_CONCURRENT_PAGES + 3)]
    requests = [
        server.open("GET", CHANGES, key=key, headers={"Accept": "application/json"}, address=f"192.0.2.{number}")
        for number, key in enumerate(keys)
    ]
    assert len(waiting) == MAX_CONCURRENT_PAGES
    # A lost connection frees its slot, whether its page is being built or waiting.
    requests.pop(0).close()
    requests.pop().close()
    for each in waiting:
        if not each.called:
            each.callback(None)
    assert all(parse_response(each.received()).status == 200 for each in requests)

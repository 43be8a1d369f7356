"""The change feed: pages and streams."""

from __future__ import annotations

import json
from typing import Any

import pytest
from attrs import frozen
from twisted.internet.defer import Deferred

from directory_server import sqlite
from directory_server.domain.changes import Change
from directory_server.domain.entries import OFFICIAL, Entry, mcp_id_of
from directory_server.run_sync import inline, run_sync
from directory_server.search import TextAnalysis, percolate
from directory_server.serialization import encode_entry
from directory_server.sqlite import SqliteStore

from .conftest import MAIL, POSTGRES, Connection, Response, Server, entry, parse_response

CHANGES = "/api/open/v1/changes"
JSON = {"Accept": "application/json"}
STREAM = {"Accept": "text/event-stream"}
NAMES = ["x/0", "x/1", "x/2"]


@frozen
class Event:
    """A server-sent event, as a browser's EventSource reports it."""

    name: str
    id: str
    data: Any

    @property
    def seq(self) -> int:
        """The number of the change in the event's id."""
        return int(self.id.partition("-")[0])


def events(raw: bytes) -> list[Event]:
    """Return the events in the received bytes of a stream."""
    _, head, body = raw.rpartition(b"\r\n\r\n")
    found, last = [], ""
    for block in (body if head else raw).decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if line.strip(": "))
        last = fields.get("id", last)
        if "data" in fields:
            found.append(Event(fields.get("event", "message"), last, json.loads(fields["data"])))
    return found


def received_changes(raw: bytes) -> list[tuple[str, str]]:
    """Return the kind and the server name of each change in the received bytes."""
    names = {mcp_id_of(name): name for name in (*NAMES, POSTGRES.name, MAIL.name)}
    return [(each.name.removeprefix("entry."), names[each.data["mcp_id"]]) for each in events(raw)]


def watch(server: Server, query: str = "", **more: Any) -> Connection:
    headers = {**STREAM, **more.pop("headers", {})}
    return server.open("GET", CHANGES + query, headers=headers, **more)


def publish(server: Server, *entries: Entry) -> None:
    server.publish(*entries)
    server.clock.advance(0)


def removed(each: Entry) -> Entry:
    return Entry(each.server, {OFFICIAL: {"status": "deleted"}})


def page(server: Server, query: str = "", **more: Any) -> Response:
    return server.get(CHANGES + query, headers=JSON, **more)


def log_id(server: Server) -> str:
    """Return the id of the server's change log."""
    with server.database.connection() as connection:
        return str(connection.execute("SELECT id FROM log").fetchone()[0])


def test_a_position_in_another_log_is_reset(server: Server) -> None:
    """After a restore, the log may have other changes at the client's position."""
    publish(server, *(entry(name) for name in NAMES))
    other = "1-ffffffffffff"
    response = page(server, f"?since={other}")
    assert (response.status, response.json["error"]) == (410, "reset")
    assert "Cannot continue from change 1: the directory was restored from a backup" in response.json["message"]
    assert response.headers["X-RateLimit-Remaining"] == "20"
    for stream in (watch(server, f"?since={other}"), watch(server, headers={"Last-Event-ID": other})):
        (reset,) = events(stream.received())
        assert (reset.name, reset.id, reset.data["seq"]) == ("reset", f"5-{log_id(server)}", 5)
        stream.close()


def test_a_position_in_this_log_is_continued(server: Server) -> None:
    publish(server, *(entry(name) for name in NAMES))
    position = f"3-{log_id(server)}"
    assert [each["seq"] for each in page(server, f"?since={position}").json["data"]] == [4, 5]
    stream = watch(server, headers={"Last-Event-ID": position})
    assert received_changes(stream.received()) == [("added", "x/1"), ("added", "x/2")]


def test_a_stream_begins_with_its_position(server: Server) -> None:
    head, _, body = watch(server).received().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK")
    assert b"text/event-stream" in head
    assert b"X-RateLimit-Remaining: 19" in head
    assert body == b"retry: 3000\n\nid: 2-%s\n\n" % log_id(server).encode()


def test_a_stream_sends_new_changes(server: Server) -> None:
    stream = watch(server)
    stream.received()
    publish(server, entry("x/0", "A.", title="Zero", websiteUrl="https://x.example"))
    publish(server, entry("x/0", "B."))
    publish(server, removed(entry("x/0", "B.")))
    first, second, third = events(stream.received())
    fields = {"mcp_id": mcp_id_of("x/0"), "name": "Zero", "brief": "A.", "website_url": "https://x.example"}
    log = log_id(server)
    assert first == Event("entry.added", f"3-{log}", fields)
    assert (second.name, second.id, second.data["brief"]) == ("entry.changed", f"4-{log}", "B.")
    assert third == Event("entry.removed", f"5-{log}", {"mcp_id": mcp_id_of("x/0")})


def test_changes_of_another_process_are_sent_within_a_second(server: Server) -> None:
    stream = watch(server)
    stream.received()
    database = sqlite.Database(server.folder, "directory")
    run_sync(sqlite.SqliteStore(database, inline, TextAnalysis()).publish("b", [entry("x/0")]))
    database.close()
    server.clock.pump([0.25] * 4)
    assert received_changes(stream.received()) == [("added", "x/0")]


@pytest.mark.parametrize("place", ["since", "header", "both"])
def test_a_stream_first_sends_missed_changes(server: Server, place: str) -> None:
    publish(server, entry("x/0"), entry("x/1"))
    query = {"since": "?since=1", "header": "", "both": "?since=0"}[place]
    headers = {} if place == "since" else {"Last-Event-ID": "1"}
    stream = watch(server, query, headers=headers)
    assert received_changes(stream.received()) == [("added", MAIL.name), ("added", "x/0"), ("added", "x/1")]
    publish(server, entry("x/2"))
    assert received_changes(stream.received()) == [("added", "x/2")]


def test_a_long_log_is_sent_once_and_in_order(server: Server) -> None:
    publish(server, *(entry(f"y/{number}") for number in range(350)))
    stream = watch(server, "?since=0")
    seqs = [each.seq for each in events(stream.received())]
    assert seqs == list(range(1, 353))


def test_a_burst_is_complete_for_fast_and_slow_clients(server: Server) -> None:
    fast, slow = watch(server), watch(server)
    slow.received()
    slow.transport.producer.pauseProducing()
    publish(server, *(entry(f"y/{number}", "It rains. " * 30) for number in range(350)))
    assert [each.seq for each in events(fast.received())] == list(range(3, 353))
    assert slow.received() == b""
    publish(server, entry("x/0"))
    slow.transport.producer.resumeProducing()
    assert [each.seq for each in events(slow.received())] == list(range(3, 354))
    publish(server, entry("x/1"))
    assert [received_changes(each.received())[-1] for each in (fast, slow)] == [("added", "x/1")] * 2


@pytest.mark.parametrize("since", [3, 1_000])
def test_a_position_after_the_log_is_reset(server: Server, since: int) -> None:
    stream = watch(server, f"?since={since}")
    (reset,) = events(stream.received())
    assert (reset.name, reset.seq, reset.data["seq"]) == ("reset", 2, 2)
    assert f"Cannot continue from change {since}" in reset.data["message"]
    publish(server, entry("x/0"))
    assert received_changes(stream.received()) == [("added", "x/0")]


def prune(server: Server, upto: int) -> None:
    database = sqlite.Database(server.folder, "directory")
    with database.transaction() as connection:
        connection.execute("DELETE FROM change WHERE seq <= ?", (upto,))
    database.close()


def test_a_position_before_the_log_is_reset(server: Server) -> None:
    publish(server, entry("x/0"), entry("x/1"))
    prune(server, 2)
    assert [each.name for each in events(watch(server, "?since=1").received())] == ["reset"]
    assert received_changes(watch(server, "?since=2").received()) == [("added", "x/0"), ("added", "x/1")]


def test_a_position_ahead_of_this_process_waits_for_it(server: Server) -> None:
    database = sqlite.Database(server.folder, "directory")
    store = sqlite.SqliteStore(database, inline, TextAnalysis())
    run_sync(store.publish("b", [entry("x/0")]))
    # The client has the change from the other process; this process has not polled the log yet.
    stream = watch(server, "?since=3")
    assert events(stream.received()) == []
    run_sync(store.publish("b", [entry("x/1")]))
    database.close()
    server.clock.pump([0.25] * 4)
    assert received_changes(stream.received()) == [("added", "x/1")]


def test_keywords_filter_a_stream_by_all_words(server: Server) -> None:
    stream = watch(server, "?since=0&keywords=postgres%20query")
    assert received_changes(stream.received()) == [("added", POSTGRES.name)]
    publish(server, entry("x/0", "Postgres."), entry("x/1", "Querying Postgres."), entry("x/2"))
    publish(server, entry("x/0", "Query Postgres."))
    assert received_changes(stream.received()) == [("added", "x/1"), ("changed", "x/0")]


def test_removals_match_all_keywords(server: Server) -> None:
    stream = watch(server, "?keywords=postgres")
    publish(server, removed(MAIL))
    assert received_changes(stream.received()) == [("removed", MAIL.name)]


def test_a_filtered_stream_sends_the_position_after_each_page(server: Server) -> None:
    received = watch(server, "?since=0&keywords=postgres").received()
    assert received.endswith(b"\n\nid: 2-%s\n\n" % log_id(server).encode())


def test_a_change_of_a_removed_entry_has_only_its_id(server: Server) -> None:
    publish(server, removed(MAIL))
    received = events(watch(server, "?since=1").received())
    assert received == [
        Event("entry.added", f"2-{log_id(server)}", {"mcp_id": MAIL.mcp_id}),
        Event("entry.removed", f"3-{log_id(server)}", {"mcp_id": MAIL.mcp_id}),
    ]


def test_pages_are_linked_by_the_link_header(server: Server) -> None:
    publish(server, *(entry(name) for name in NAMES))
    seen: list[Any] = []
    path: str | None = f"{CHANGES}?limit=2"
    sizes = []
    while path:
        response = server.get(path, headers=JSON)
        seen += response.json["data"]
        sizes.append(response.json["count"])
        link = response.headers["Link"]
        path = link.removeprefix("<").removesuffix('>; rel="next"') if link else None
    assert sizes == [2, 2, 1]
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
    assert response.json["next"] == end
    last = page(server, f"?since={end}")
    assert (last.json, last.headers["Link"]) == ({"data": [], "count": 0, "next": end}, None)
    assert last.headers["Content-Type"] == "application/json"


def test_a_filtered_page_is_filled_from_several_scans(server: Server) -> None:
    publish(server, *(entry(f"y/{number}") for number in range(2_500)))
    publish(server, *(entry(name, "Postgres.") for name in NAMES))
    response = page(server, "?keywords=postgres&limit=3")
    assert [each["seq"] for each in response.json["data"]] == [1, 2503, 2504]
    end = f"2504-{log_id(server)}"
    assert response.json["next"] == end
    assert response.headers["Link"] == f'<{CHANGES}?since={end}&keywords=postgres&limit=3>; rel="next"'
    assert page(server, "?since=2504&keywords=postgres&limit=3").json["count"] == 1


def test_a_filtered_page_may_be_short(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("directory_server.web.changes._handler.SCAN_SIZE", 2)
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
    seen, path, sizes = [], f"{CHANGES}?since=2&limit=1000", []
    while path:
        response = server.get(path, key=server.new_key()[1])
        seen += [each["seq"] for each in response.json["data"]]
        sizes.append(len(response.body))
        assert response.json["next"].startswith(f"{seen[-1]}-")
        link = response.headers["Link"]
        path = link.removeprefix("<").removesuffix('>; rel="next"') if link else ""
    assert seen == list(range(3, 23))
    assert max(sizes) < 2_600


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


def test_streams_of_a_key_are_counted_over_both_endpoints(server: Server) -> None:
    first, second = watch(server), server.open("GET", "/api/open/mcp")
    response = parse_response(watch(server).received())
    assert (response.status, response.json["error"]) == (429, "too_many_streams")
    assert response.headers["X-RateLimit-Remaining"] == "19"
    assert page(server).status == 200
    for each in (first, second):
        each.close()
    assert parse_response(watch(server).received()).status == 200


def test_an_exceeded_quota_rejects_streams_and_pages(server: Server) -> None:
    _, key = server.new_key(limit=1)
    page(server, key=key)
    for headers in (JSON, STREAM):
        response = server.get(CHANGES, key=key, headers=headers)
        assert (response.status, response.json["error"]) == (401, "rate_limited")
    assert len(server.hub) == 0


def test_head_opens_no_stream(server: Server) -> None:
    response = server.request("HEAD", CHANGES, headers=STREAM)
    assert (response.status, response.headers["Content-Type"], response.body) == (200, "text/event-stream", b"")
    assert len(server.hub) == 0


def test_cors_allows_a_configured_origin(server: Server) -> None:
    origin = "https://app.example.org"
    response = parse_response(watch(server, headers={"Origin": origin}).received())
    assert response.headers["Access-Control-Allow-Origin"] == origin


def test_a_stream_closed_while_reading_the_log_is_removed(server: Server) -> None:
    publish(server, *(entry(f"y/{number}", "It rains. " * 30) for number in range(350)))
    stream = watch(server)
    stream.transport.producer.pauseProducing()
    publish(server, *(entry(f"z/{number}", "It rains. " * 30) for number in range(350)))
    stream.close()
    publish(server, entry("x/0"))
    assert len(server.hub) == 0


def test_a_storage_error_ends_the_stream_cleanly(
    server: Server, logged_failures: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a full disk")

    monkeypatch.setattr("directory_server.sqlite.SqliteStore.changes", broken)
    stream = watch(server, "?since=0")
    assert stream.received().endswith(b"id: 0-%s\n\nretry: 3000\n\n" % log_id(server).encode())
    assert stream.transport.disconnecting
    assert len(server.hub) == 0
    assert len(logged_failures) == 1
    logged_failures.clear()


def test_encoded_events_are_limited_in_bytes() -> None:
    from directory_server.web.changes._log_pages import PAGE_BYTES, _page, encode_events

    large = [entry(f"y/{number}", "x" * 400) for number in range(300)]
    changes = [
        Change(seq, "added", each.mcp_id, encode_entry(each), TextAnalysis()(each)) for seq, each in enumerate(large, 1)
    ]
    for keywords in (None, "y"):
        seqs: list[int] = []
        while len(seqs) < len(changes):
            page = _page(changes[len(seqs) :], keywords, percolate, "log")
            assert len(b"".join(page.chunks)) < PAGE_BYTES + 1_000
            seqs += [int(each.id.partition("-")[0]) for each in events(b"".join(page.chunks))]
            assert page.last == seqs[-1]
        assert seqs == [change.seq for change in changes]
    # The same holds for broadcasts.
    found = encode_events(changes, [None, "y", "z"], percolate, "log", 2_000)
    assert [2_000 < len(each) < 3_000 for each in found.values()] == [True, True, False]


def test_concurrent_pages_are_limited(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    from directory_server.web.changes._handler import MAX_CONCURRENT_PAGES

    server.site.connections._limit = 100

    waiting: list[Deferred[None]] = []
    changes = SqliteStore.changes

    async def slow(self: SqliteStore, since: int, limit: int) -> Any:
        waiting.append(Deferred())
        await waiting[-1]
        return await changes(self, since, limit)

    monkeypatch.setattr(SqliteStore, "changes", slow)
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

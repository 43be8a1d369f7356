"""The change feed as streams: positions, filters, quota and storage errors."""

from __future__ import annotations

import pytest

from directory_server import sqlite
from directory_server.domain.entries import mcp_id_of
from directory_server.domain.errors import Unavailable
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.search import TextAnalysis

from .change_feed import (
    CHANGES,
    JSON,
    NAMES,
    STREAM,
    Event,
    events,
    log_id,
    page,
    prune,
    publish,
    received_changes,
    removed,
    watch,
)
from .conftest import MAIL, POSTGRES, Server, entry, parse_response


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


def test_a_stream_begins_with_its_position(server: Server) -> None:
    head, _, body = watch(server).received().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK")
    assert b"text/event-stream" in head
    assert b"X-RateLimit-Remaining: 19" in head
    assert body == b"id: 2-%s\n\n" % log_id(server).encode()


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
    run_sync(sqlite.sqlite_store(database, inline, TextAnalysis()).publish("b", [entry("x/0")]))
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


def test_a_position_before_the_log_is_reset(server: Server) -> None:
    publish(server, entry("x/0"), entry("x/1"))
    prune(server, 2)
    assert [each.name for each in events(watch(server, "?since=1").received())] == ["reset"]
    assert received_changes(watch(server, "?since=2").received()) == [("added", "x/0"), ("added", "x/1")]


def test_a_position_ahead_of_this_process_waits_for_it(server: Server) -> None:
    database = sqlite.Database(server.folder, "directory")
    store = sqlite.sqlite_store(database, inline, TextAnalysis())
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


@pytest.mark.parametrize(
    ("error", "logged"),
    [(RuntimeError("a defect"), 1), (Unavailable("The database cannot be used now: it does not respond."), 0)],
    ids=["defect", "outage"],
)
def test_a_storage_error_ends_the_stream_cleanly(
    server: Server, logged_failures: list[object], monkeypatch: pytest.MonkeyPatch, error: Exception, logged: int
) -> None:
    def broken(*_: object) -> None:
        raise error

    monkeypatch.setattr("directory_server.tables.StoredEntries.changes", broken)
    stream = watch(server, "?since=0")
    assert stream.received().endswith(b"id: 0-%s\n\nretry: 3000\n\n" % log_id(server).encode())
    assert stream.transport.disconnecting
    assert len(server.hub) == 0
    assert len(logged_failures) == logged
    logged_failures.clear()


def test_head_opens_no_stream(server: Server) -> None:
    response = server.request("HEAD", CHANGES, headers=STREAM)
    assert (response.status, response.headers["Content-Type"], response.body) == (200, "text/event-stream", b"")
    assert len(server.hub) == 0

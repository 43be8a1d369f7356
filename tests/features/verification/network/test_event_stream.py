"""Parsing of server-sent events of hostile servers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from directory_server.features.verification.network._event_stream import MAX_EVENT, MAX_LINES, Event, EventParser
from directory_server.http_client import BadResponse

STREAM = (
    b": comment\r\n\r\nevent: endpoint\r\ndata: /messages\r\n\r\ndata:one\ndata:  two\n\n"
    b"event: ping\n\nid: 7\rdata\rdata: end\r\rdata: never finished"
)
EVENTS = [Event("endpoint", b"/messages"), Event("message", b"one\n two"), Event("message", b"\nend")]


@given(st.lists(st.integers(0, len(STREAM))))
def test_events_do_not_depend_on_the_chunks(cuts: list[int]) -> None:
    parser, found, start = EventParser(), list[Event](), 0
    for end in [*sorted(cuts), len(STREAM)]:
        found.extend(parser.feed(STREAM[start:end]))
        start = end
    assert found == EVENTS


@pytest.mark.parametrize(
    ("chunk", "limit"),
    [(b"data: " + b"x" * 1_000, MAX_EVENT), (b": " + b"x" * 1_000 + b"\n", MAX_EVENT), (b"\n", MAX_LINES)],
    ids=["one line", "comments", "empty lines"],
)
def test_an_endless_event_ends_the_stream(chunk: bytes, limit: int) -> None:
    parser = EventParser()
    with pytest.raises(BadResponse):
        [list(parser.feed(chunk)) for _ in range(limit // len(chunk) + 1)]

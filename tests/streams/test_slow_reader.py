"""Slow readers: the order, the size limit and the end of their backlog."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.defer import Deferred
from twisted.internet.testing import StringTransport

MAX_BACKLOG = 48 * 1024


class Transport(StringTransport):
    """Accepts `capacity` bytes, then pauses its producer until the reader has read."""

    def __init__(self, capacity: int) -> None:
        super().__init__()
        self.capacity = capacity
        self.waiting = b""
        self.writes: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.writes.append(data)
        self.waiting += data
        if len(self.waiting) > self.capacity and self.producer is not None:
            self.producer.pauseProducing()

    def read(self) -> bytes:
        """Let the reader read everything, and return it."""
        data, self.waiting = self.waiting, b""
        if len(data) > self.capacity and self.producer is not None:
            self.producer.resumeProducing()
        return data


class Hub:
    """A stand-in for the hub of a stream."""

    stall = 30.0
    cuts = 0
    now = 0.0
    released = 0

    def seconds(self) -> float:
        return self.now

    def release(self, stream: Any) -> None:
        self.released += 1


def stream_to(transport: Transport) -> Any:
    from directory_server.streams import Stream

    stream = Stream(Hub(), "key", b"", 40)  # type: ignore[arg-type]
    stream.makeConnection(transport)
    return stream


@given(
    capacity=st.integers(0, 30),
    events=st.lists(st.one_of(st.binary(min_size=1, max_size=20), st.none()), max_size=60),
)
def test_events_arrive_complete_and_in_order_at_any_speed(capacity: int, events: list[bytes | None]) -> None:
    transport = Transport(capacity)
    stream = stream_to(transport)
    received = b""
    for event in events:
        if event is None:
            received += transport.read()
        else:
            stream.send(event)
    while transport.waiting or stream._backlog is not None:
        received += transport.read()
    assert received == b"".join(event for event in events if event is not None)
    assert stream.open


def test_the_backlog_is_limited_and_nothing_is_sent_after_an_abort() -> None:
    transport = Transport(100)
    stream = stream_to(transport)
    stream.send(b"a" * 200)
    for _ in range(48):
        stream.send(b"b" * 1024)
    assert stream.open
    assert transport.waiting == b"a" * 200
    assert stream._backlog.size == MAX_BACKLOG
    stream.send(b"c")
    assert (stream.open, stream._hub.cuts, stream._hub.released) == (False, 1, 1)
    assert transport.disconnected
    stream.send(b"d")
    stream.resumeProducing()
    assert transport.waiting == b"a" * 200


def test_a_fast_reader_may_be_sent_an_event_of_any_length() -> None:
    transport = Transport(100)
    stream = stream_to(transport)
    stream.send(b"x" * 1_000_000)
    stream.send(b"y")
    assert stream.open
    assert transport.read() == b"x" * 1_000_000
    assert transport.read() == b"y"


def test_a_sender_that_waits_for_drained_is_never_aborted() -> None:
    transport = Transport(100)
    stream = stream_to(transport)
    pages = [b"%d" % (number % 10) * 40_000 for number in range(50)]

    async def replay() -> str:
        for page in pages:
            stream.send(page)
            if not await stream.drained():
                return "gone"
        return "all"

    replayed = Deferred.fromCoroutine(replay())
    received = b""
    while not replayed.called:
        stream._hub.now += 29.0
        stream.heartbeat()
        received += transport.read()
    assert replayed.result == "all"
    assert received == b"".join(pages)


@pytest.mark.parametrize("end", ["abort", "end", "connectionLost"])
def test_drained_returns_false_when_the_stream_ends(end: str) -> None:
    transport = Transport(100)
    stream = stream_to(transport)
    stream._hub.forget = lambda stream: None
    stream.send(b"x" * 200)
    waiting = [Deferred.fromCoroutine(stream.drained()) for _ in range(2)]
    assert not any(each.called for each in waiting)
    getattr(stream, end)(*([None] if end == "connectionLost" else []))
    assert [each.result for each in waiting] == [False, False]
    late = Deferred.fromCoroutine(stream.drained())
    assert late.result is False


def test_a_slow_reader_gets_no_heartbeats() -> None:
    transport = Transport(10)
    stream = stream_to(transport)
    stream.heartbeat()
    stream.heartbeat()
    assert transport.read() == b": \n\n: \n\n"
    stream.send(b"x" * 20)
    stream.heartbeat()
    assert transport.read() == b"x" * 20


@pytest.mark.parametrize(("timed_out", "cuts"), [(True, 1), (False, 0)])
def test_a_connection_that_the_kernel_aborted_is_counted(timed_out: bool, cuts: int) -> None:
    transport: Any = Transport(100)
    stream = stream_to(transport)
    stream._hub.forget = lambda stream: None
    transport.timed_out = timed_out
    stream.connectionLost(None)
    assert (stream._hub.cuts, stream._hub.released) == (cuts, 1)


def test_a_stream_that_is_aborted_while_the_kernel_does_so_is_counted_once() -> None:
    transport: Any = Transport(100)
    stream = stream_to(transport)
    stream._hub.forget = lambda stream: None
    stream.abort()
    transport.timed_out = True
    stream.connectionLost(None)
    assert (stream._hub.cuts, stream._hub.released) == (1, 1)

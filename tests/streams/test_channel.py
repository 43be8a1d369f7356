"""Broadcasts to a channel: recipients, order, and time per reactor iteration."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.task import Clock
from twisted.logger import LogEvent


class Reader:
    """A stand-in for a stream that records its events."""

    def __init__(self, clock: Clock | None = None, cost: float = 0.0) -> None:
        self.events: list[bytes] = []
        self.times: list[float] = []
        self._clock, self._cost = clock, cost

    def send(self, event: bytes) -> None:
        self.events.append(event)
        if self._clock is not None:
            self.times.append(self._clock.seconds())
            self._clock.rightNow += self._cost

    @property
    def received(self) -> bytes:
        return b"".join(self.events)


def channel(clock: Clock) -> Any:
    from directory_server.streams import Channel
    from directory_server.streams._channel import BatchRunner

    return Channel(BatchRunner(clock))


def test_one_reactor_iteration_serves_at_most_one_batch() -> None:
    clock = Clock()
    sent = channel(clock)
    readers = [Reader(clock, cost=12e-6) for _ in range(10_000)]
    for each in readers:
        sent.add(each)
    sent.send(b"x")
    most = 0
    while clock.getDelayedCalls():
        before, now = sum(len(each.events) for each in readers), clock.seconds()
        # Run one call only. The calls that it schedules are later, because the clock has advanced.
        call = min(clock.getDelayedCalls(), key=lambda call: call.getTime())
        clock.calls.remove(call)  # type: ignore[arg-type]
        call.func(*call.args, **call.kw)  # type: ignore[attr-defined]
        most = max(most, sum(len(each.events) for each in readers) - before)
        assert clock.seconds() - now < 0.006
    assert most == 250
    assert all(each.events == [b"x"] for each in readers)


def test_a_broadcast_can_be_spread_over_time() -> None:
    clock = Clock()
    sent = channel(clock)
    readers = [Reader(clock) for _ in range(1_000)]
    for each in readers:
        sent.add(each)
    sent.send(b"x", over=10.0)
    clock.pump([0.01] * 1_100)
    times = [each.times[0] for each in readers]
    assert times == sorted(times)
    assert (times[0], times[9]) == (0.01, 0.01)
    assert 9 < times[-1] - times[0] < 11
    assert max(after - before for before, after in pairwise(times)) < 0.13


def test_flushed_fires_after_all_events_were_sent() -> None:
    clock = Clock()
    sent, reader = channel(clock), Reader()
    sent.add(reader)
    assert sent.flushed().called
    sent.send(b"x" * 20_000)
    sent.send(b"y" * 20_000)
    flushed = sent.flushed()
    assert not flushed.called
    clock.advance(0)
    assert flushed.called
    assert len(reader.received) == 40_000


def test_an_exception_in_one_stream_does_not_stop_later_events(logged_failures: list[LogEvent]) -> None:
    class Broken(Reader):
        def send(self, event: bytes) -> None:
            raise ZeroDivisionError

    clock = Clock()
    sent, broken = channel(clock), Broken()
    sent.add(broken)
    sent.send(b"x")
    clock.advance(0)
    sent.remove(broken)
    reader = Reader()
    sent.add(reader)
    sent.send(b"y")
    clock.advance(0)
    assert reader.events == [b"y"]
    assert len(logged_failures) == 1
    logged_failures.clear()


@given(
    over=st.sampled_from([0.0, 3.0]),
    steps=st.lists(st.sampled_from(["join", "leave", "send", "send", "turn"]), max_size=40),
)
def test_a_stream_receives_exactly_the_events_after_it_joined(over: float, steps: list[str]) -> None:
    clock = Clock()
    sent: Any = channel(clock)
    inside: dict[Reader, int] = {}
    left: dict[Reader, tuple[int, int]] = {}
    count = 0
    for step in steps:
        if step == "join":
            reader = Reader()
            sent.add(reader)
            inside[reader] = count
        elif step == "leave" and inside:
            reader = next(iter(inside))
            sent.remove(reader)
            left[reader] = (inside.pop(reader), count)
        elif step == "send":
            sent.send(b"%03d" % count, over=over)
            count += 1
        elif step == "turn":
            clock.advance(0)
    clock.pump([1] * 200)
    for reader, first in inside.items():
        assert reader.received == b"".join(b"%03d" % number for number in range(first, count))
    for reader, (first, last) in left.items():
        assert b"".join(b"%03d" % number for number in range(first, last)).startswith(reader.received)

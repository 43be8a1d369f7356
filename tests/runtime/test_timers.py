"""Periodic calls: no error ends them, and none overlaps."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.logger import LogEvent, capturedLogs

from directory_server.domain.errors import Unavailable
from directory_server.runtime.timers import Timer


class Calls:
    """A function that records the times of its calls, and does what `results` say, then nothing."""

    def __init__(self, clock: Clock, *results: object) -> None:
        self.times: list[float] = []
        self._clock = clock
        self._results: Iterator[object] = iter(results)

    def __call__(self) -> object:
        self.times.append(self._clock.seconds())
        result = next(self._results, None)
        if isinstance(result, Exception):
            raise result
        return result


async def fail() -> None:
    raise RuntimeError("unexpected")


def test_no_error_ends_the_calls(logged_failures: list[LogEvent]) -> None:
    clock, failed = Clock(), Deferred[None]()
    calls = Calls(clock, ValueError("unexpected"), fail(), failed, None, KeyError("again"))
    timer = Timer(2.0, calls, clock)
    timer.startService()
    clock.advance(2.0)
    clock.advance(2.0)
    failed.errback(OSError("no descriptor"))
    clock.pump([2.0] * 3)
    assert calls.times == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    # The first of each consecutive errors.
    assert [type(event["log_failure"].value) for event in logged_failures] == [ValueError, KeyError]
    logged_failures.clear()
    timer.stopService()
    clock.pump([2.0] * 3)
    assert len(calls.times) == 6


def test_a_storage_that_is_away_is_no_defect(logged_failures: list[LogEvent]) -> None:
    clock = Clock()
    calls = Calls(clock, Unavailable("It does not respond."), Unavailable("It does not respond."))
    timer = Timer(2.0, calls, clock)
    with capturedLogs() as events:
        timer.startService()
        clock.pump([2.0] * 2)
    assert calls.times == [0.0, 2.0, 4.0]
    assert logged_failures == []
    assert [event["reason"] for event in events] == ["It does not respond."]


def test_the_finish_runs_once_after_the_last_call() -> None:
    clock, running, events = Clock(), Deferred[None](), list[str]()

    async def finish() -> None:
        events.append("finish")

    timer = Timer(1.0, lambda: running, clock, finish=finish)
    timer.startService()
    stopped = timer.stopService()
    assert events == []
    running.callback(None)
    timer.stopService()
    assert events == ["finish"]
    assert stopped is not None
    assert stopped.called


def test_the_next_call_and_the_stop_wait_for_the_end_of_a_call() -> None:
    clock, running = Clock(), Deferred[None]()
    calls = Calls(clock, running)
    timer = Timer(1.0, calls, clock, at_start=False)
    timer.startService()
    assert calls.times == []
    clock.pump([1.0] * 4)
    assert calls.times == [1.0]
    stopped = timer.stopService()
    assert stopped is not None
    assert not stopped.called
    running.callback(None)
    assert stopped.called
    assert not clock.getDelayedCalls()


def test_a_stop_cancels_a_call_that_runs(logged_failures: list[LogEvent]) -> None:
    clock, cancelled = Clock(), list[object]()
    timer = Timer(2.0, Calls(clock, Deferred(cancelled.append)), clock, cancels=True)
    timer.startService()
    stopped = timer.stopService()
    assert len(cancelled) == 1
    assert stopped is not None
    assert stopped.called
    assert logged_failures == []


def test_counts_the_intervals_since_the_last_call(logged_failures: list[LogEvent]) -> None:
    clock = Clock()
    counts: list[int] = []

    def count(intervals: int) -> None:
        counts.append(intervals)
        if len(counts) == 1:
            raise ValueError("unexpected")

    timer = Timer(1.0, count, clock, at_start=False, counts=True)
    timer.startService()
    clock.advance(1.0)
    clock.advance(3.5)
    clock.advance(1.0)
    assert counts == [1, 3, 1]
    timer.stopService()
    assert len(logged_failures) == 1
    logged_failures.clear()


@pytest.mark.parametrize("started", [False, True])
def test_a_second_stop_does_nothing(started: bool) -> None:
    clock = Clock()
    timer = Timer(1.0, lambda: None, clock)
    if started:
        timer.startService()
        timer.stopService()
    timer.stopService()
    assert not clock.getDelayedCalls()

"""The end of a reactor turn: one delayed call runs all steps. Work that takes long is spread over turns."""

from __future__ import annotations

import pytest
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock
from twisted.logger import LogEvent

from directory_server.runtime.turn import WORK, ImmediateTurn, ReactorTurn, TurnPace


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_all_steps_of_a_turn_run_in_one_delayed_call(clock: Clock) -> None:
    turn, called = ReactorTurn(clock), list[int]()
    for number in range(3):
        turn.at_end(lambda number=number: called.append(number))  # type: ignore[misc]
    assert (called, len(clock.getDelayedCalls())) == ([], 1)
    clock.advance(0)
    assert (called, clock.getDelayedCalls()) == ([0, 1, 2], [])


def test_a_step_that_is_added_at_the_end_of_a_turn_runs_at_that_end(clock: Clock) -> None:
    turn, called = ReactorTurn(clock), list[str]()

    def first() -> None:
        called.append("first")
        turn.at_end(lambda: called.append("second"))

    turn.at_end(first)
    clock.advance(0)
    assert (called, clock.getDelayedCalls()) == (["first", "second"], [])


def test_the_next_turn_has_its_own_end(clock: Clock) -> None:
    turn, called = ReactorTurn(clock), list[int]()
    for number in range(2):
        turn.at_end(lambda number=number: called.append(number))  # type: ignore[misc]
        clock.advance(0)
        assert called == list(range(number + 1))


def test_a_failing_step_is_logged_and_the_others_run(clock: Clock, logged_failures: list[LogEvent]) -> None:
    turn, called = ReactorTurn(clock), list[int]()

    def fail() -> None:
        raise ValueError("a defect")

    turn.at_end(fail)
    turn.at_end(lambda: called.append(1))
    clock.advance(0)
    assert called == [1]
    assert [event["log_failure"].type for event in logged_failures] == [ValueError]
    logged_failures.clear()
    turn.at_end(lambda: called.append(2))
    clock.advance(0)
    assert called == [1, 2]


def test_an_immediate_turn_ends_with_each_step() -> None:
    called: list[int] = []
    ImmediateTurn().at_end(lambda: called.append(1))
    assert called == [1]


class Work:
    """Pieces of work that take WORK / 2 seconds each, on a reactor whose clock has one delayed call per turn."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.pace = TurnPace(clock, ReactorTurn(clock))
        self.done: list[int] = []

    def start(self, number: int) -> Deferred[None]:
        return Deferred.fromCoroutine(self._run(number))

    async def _run(self, number: int) -> None:
        waiting = self.pace()
        if waiting is not None:
            await waiting
        self._clock.rightNow += WORK / 2
        self.done.append(number)


def run_turn(clock: Clock) -> None:
    """Run the calls that are due, but not those that they add."""
    for call in [each for each in clock.calls if each.getTime() <= clock.seconds()]:
        clock.calls.remove(call)
        call.called = 1
        call.func(*call.args, **call.kw)


def test_work_beyond_the_limit_of_a_turn_waits_for_the_next_turns_in_its_order(clock: Clock) -> None:
    work = Work(clock)
    for number in range(5):
        work.start(number)
    assert work.done == [0, 1]
    run_turn(clock)
    work.start(5)
    assert work.done == [0, 1]
    run_turn(clock)
    assert work.done == [0, 1, 2, 3]
    clock.advance(0)
    assert work.done == [0, 1, 2, 3, 4, 5]
    assert clock.getDelayedCalls() == []
    work.start(6)
    assert work.done[-1] == 6


def test_work_that_has_begun_waits_for_the_next_turn_before_other_work(clock: Clock) -> None:
    pace, done = TurnPace(clock, ReactorTurn(clock)), list[str]()

    async def run(name: str, *parts: float) -> None:
        for place, seconds in enumerate(parts):
            waiting = pace(begun=place > 0)
            if waiting is not None:
                await waiting
            clock.rightNow += seconds
            done.append(f"{name}{place}")

    for name in ("a", "b"):
        Deferred.fromCoroutine(run(name, WORK / 4, WORK / 4))
    Deferred.fromCoroutine(run("c", 2 * WORK, WORK / 4))
    Deferred.fromCoroutine(run("d", WORK / 4))
    assert done == ["a0", "a1", "b0", "b1"]
    run_turn(clock)
    run_turn(clock)
    assert done == ["a0", "a1", "b0", "b1", "c0"]
    clock.advance(0)
    assert done[5:] == ["c1", "d0"]

    done.clear()
    for name in ("e", "f"):
        Deferred.fromCoroutine(run(name, 2 * WORK, WORK / 4))
    assert done == ["e0"]
    run_turn(clock)
    run_turn(clock)
    assert done == ["e0", "e1", "f0"]
    clock.advance(0)
    assert done == ["e0", "e1", "f0", "f1"]


def test_work_that_is_cancelled_while_it_waits_is_not_done(clock: Clock) -> None:
    work = Work(clock)
    started = [work.start(number) for number in range(4)]
    started[2].addErrback(lambda failure: failure.trap(CancelledError) and None)
    started[2].cancel()
    clock.advance(0)
    assert work.done == [0, 1, 3]


def test_work_does_not_wait_where_turns_end_at_once(clock: Clock) -> None:
    pace = TurnPace(clock, ImmediateTurn())
    assert [pace() for _ in range(3)] == [None, None, None]

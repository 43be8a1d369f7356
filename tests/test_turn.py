"""The end of a reactor turn: one delayed call runs all steps."""

from __future__ import annotations

import pytest
from twisted.internet.task import Clock
from twisted.logger import LogEvent

from directory_server.turn import ImmediateTurn, ReactorTurn


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

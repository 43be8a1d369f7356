"""A limited offload."""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import CancelledError, Deferred

from directory_server.runtime.threads import Limited


class Started:
    """An offload whose functions end when a test says so."""

    def __init__(self) -> None:
        self.running: list[Deferred[Any]] = []

    async def __call__(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        running: Deferred[Any] = Deferred()
        self.running.append(running)
        await running
        return function(*args, **kwargs)


def begin(limited: Limited, result: int) -> Deferred[int]:
    return Deferred.fromCoroutine(limited(lambda: result))


def test_further_functions_wait_in_their_order() -> None:
    started = Started()
    limited = Limited(started, 2)
    found: list[int] = []
    for number in range(4):
        begin(limited, number).addCallback(found.append)
    assert len(started.running) == 2
    started.running[0].callback(None)
    assert (found, len(started.running)) == ([0], 3)
    started.running[2].callback(None)
    assert (found, len(started.running)) == ([0, 2], 4)


def test_a_function_that_fails_lets_the_next_one_run() -> None:
    started = Started()
    limited = Limited(started, 1)
    failing, next_one = begin(limited, 0), begin(limited, 1)
    started.running[0].errback(ValueError("the first"))
    failing.addErrback(lambda failure: 0 if failure.check(ValueError) else 1)
    assert failing.result == 0
    started.running[1].callback(None)
    assert next_one.result == 1


def test_a_function_that_runs_keeps_its_place_after_its_caller_has_left() -> None:
    """A thread cannot be ended. Clients that left had as many functions run at once as they liked."""
    started = Started()
    limited = Limited(started, 1)
    left, waiting = begin(limited, 0), begin(limited, 1)
    left.addErrback(lambda failure: failure.trap(CancelledError))
    left.cancel()
    assert (left.called, len(started.running)) == (True, 1)
    started.running[0].callback(None)
    started.running[1].callback(None)
    assert waiting.result == 1


def test_a_cancelled_function_does_not_run() -> None:
    started = Started()
    limited = Limited(started, 1)
    begin(limited, 0)
    cancelled, last = begin(limited, 1), begin(limited, 2)
    cancelled.addErrback(lambda failure: failure.trap(CancelledError))
    cancelled.cancel()
    started.running[0].callback(None)
    started.running[1].callback(None)
    assert last.result == 2
    assert len(started.running) == 2

"""A Deferred that resumes one coroutine directly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from twisted.internet.defer import CancelledError, Deferred
from twisted.python.failure import Failure

from directory_server.resumption import Resumption


async def waiting(resumption: Resumption[str], outcomes: list[object]) -> None:
    try:
        outcomes.append(await resumption)
    except (ValueError, CancelledError) as error:
        outcomes.append(type(error))


def resumed_directly(resumption: Resumption[str], outcomes: list[object]) -> None:
    """Run a coroutine as the site does."""
    coroutine = waiting(resumption, outcomes)

    def resume(result: Any) -> None:
        proceed = result.throwExceptionIntoGenerator if isinstance(result, Failure) else None
        with pytest.raises(StopIteration):
            proceed(coroutine) if proceed else coroutine.send(result)

    assert coroutine.send(None) is resumption
    resumption.resume = resume


def resumed_by_callbacks(resumption: Resumption[str], outcomes: list[object]) -> None:
    Deferred.fromCoroutine(waiting(resumption, outcomes))


RUNS = pytest.mark.parametrize("run", [resumed_directly, resumed_by_callbacks])
Run = Callable[[Resumption[str], list[object]], None]


@RUNS
@pytest.mark.parametrize(("result", "outcome"), [("done", "done"), (Failure(ValueError()), ValueError)])
def test_a_coroutine_continues_with_the_result(run: Run, result: Any, outcome: object) -> None:
    resumption, outcomes = Resumption[str](), list[object]()
    run(resumption, outcomes)
    assert (outcomes, bool(resumption.called)) == ([], False)
    resumption.fire(result)
    assert (outcomes, bool(resumption.called)) == ([outcome], True)


@RUNS
def test_a_cancelled_coroutine_is_not_resumed_again(run: Run) -> None:
    resumption, outcomes = Resumption[str](), list[object]()
    run(resumption, outcomes)
    resumption.cancel()
    assert (outcomes, bool(resumption.called)) == ([CancelledError], True)
    resumption.fire("late")
    resumption.cancel()
    assert outcomes == [CancelledError]

"""Run coroutines to their end in a blocking call: commands, the start of a server, and tests."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

LONGEST_TURN = 0.1
"""Maximum seconds that a turn of a reactor waits for an event."""

P = ParamSpec("P")
T = TypeVar("T")


async def inline(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Call `function` in this thread and return its result: an Offload."""
    return function(*args, **kwargs)


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return the result of `coroutine`, or raise its exception, without a reactor.

    Raises RuntimeError if the coroutine waits for anything.
    """
    try:
        coroutine.send(None)
    except StopIteration as returned:
        result: T = returned.value
        return result
    coroutine.close()
    raise RuntimeError(f"{coroutine} waits for something")


def run_until_done(coroutine: Coroutine[Any, Any, T], reactor: Callable[[], Any]) -> T:
    """Return the result of `coroutine`, or raise its exception; for commands and for the start of a server.

    If it waits, the reactor that `reactor()` returns handles events until it is done. That reactor must not run yet.
    """
    outcome: list[Any] = []
    Deferred.fromCoroutine(coroutine).addBoth(outcome.append)
    while not outcome:
        reactor().iterate(LONGEST_TURN)
    if isinstance(outcome[0], Failure):
        outcome[0].raiseException()
    result: T = outcome[0]
    return result

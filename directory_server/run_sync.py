"""Run coroutines without a reactor, for the command line and the tests."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

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

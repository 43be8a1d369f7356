"""Asynchronous code for those who have nobody to hold up: the command line and the tests."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def inline(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what `function` returns, called at once in this thread: an Offload."""
    return function(*args, **kwargs)


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return what `coroutine` returns, or raise what it raises, without a reactor; it must not wait for anything."""
    try:
        coroutine.send(None)
    except StopIteration as returned:
        result: T = returned.value
        return result
    coroutine.close()
    raise RuntimeError(f"{coroutine} waits for something")

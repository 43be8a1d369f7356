"""What every adapter of a port must do: one suite for each, inherited by the tests of each adapter."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec

from twisted.internet.defer import Deferred

P = ParamSpec("P")


def awaited(test: Callable[P, Coroutine[Deferred[Any], Any, None]]) -> Callable[P, Deferred[None]]:
    """Give pytest-twisted the Deferred of an `async def` test, as its own untyped decorator would."""

    @wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> Deferred[None]:
        return Deferred.fromCoroutine(test(*args, **kwargs))

    return run

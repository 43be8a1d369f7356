"""Contract suites of the ports. The tests of each adapter inherit the suite of its port."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec

from twisted.internet.defer import Deferred

P = ParamSpec("P")


def awaited(test: Callable[P, Coroutine[Deferred[Any], Any, None]]) -> Callable[P, Deferred[None]]:
    """Return `test` as a function that returns a Deferred, for pytest-twisted. Its own decorator is untyped."""

    @wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> Deferred[None]:
        return Deferred.fromCoroutine(test(*args, **kwargs))

    return run

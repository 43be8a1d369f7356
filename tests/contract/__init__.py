"""Contract suites of the ports. The tests of each adapter inherit the suite of its port."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec

import pytest
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

P = ParamSpec("P")


def awaited(test: Callable[P, Coroutine[Deferred[Any], Any, None]]) -> Callable[P, Deferred[None]]:
    """Return a coroutine test as a function that returns a Deferred. (pytest-twisted's own decorator is untyped.)"""

    @wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> Deferred[None]:
        return Deferred.fromCoroutine(test(*args, **kwargs))

    return run


class ContractWithClock:
    """Base of the contracts of adapters that read the time. The clock starts at 1,000,000 seconds."""

    clock: Clock

    @pytest.fixture(autouse=True)
    def _clock(self) -> None:
        self.clock = Clock()
        self.clock.advance(1_000_000)

"""Contract suites of the ports. The tests of each adapter inherit the suite of its port."""

from __future__ import annotations

import threading
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import pytest
from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.task import Clock
from twisted.internet.threads import deferToThread

from directory_server.runtime.run_sync import run_sync

P = ParamSpec("P")
T = TypeVar("T")

TOGETHER = 30.0
"""Seconds in which all threads of `at_once` must have started."""


def awaited(test: Callable[P, Coroutine[Deferred[Any], Any, None]]) -> Callable[P, Deferred[None]]:
    """Return a coroutine test as a function that returns a Deferred. (pytest-twisted's own decorator is untyped.)"""

    @wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> Deferred[None]:
        return Deferred.fromCoroutine(test(*args, **kwargs))

    return run


async def at_once(*calls: Coroutine[Any, Any, T]) -> list[T]:
    """Run each of `calls` in a thread of its own; they start together. Return their results in order.

    The adapters must run their functions in the calling thread (`run_sync.inline`).
    """
    start = threading.Barrier(len(calls))

    def run(call: Coroutine[Any, Any, T]) -> T:
        start.wait(TOGETHER)
        return run_sync(call)

    return await gatherResults([deferToThread(run, call) for call in calls], consumeErrors=True)


async def in_turn(*calls: Coroutine[Any, Any, T]) -> list[T]:
    """Run `calls` one after the other: `at_once` for adapters that only one thread may use."""
    return [await call for call in calls]


class ContractWithClock:
    """Base of the contracts of adapters that read the time. The clock starts at 1,000,000 seconds."""

    clock: Clock

    @pytest.fixture(autouse=True)
    def _clock(self) -> None:
        self.clock = Clock()
        self.clock.advance(1_000_000)

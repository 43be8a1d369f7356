"""Shared fixtures and helpers: databases, a clock, offloads that the test runs, and concurrent threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.python.failure import Failure

from directory_server.sqlite import Database

from ..conftest import Open


class ManualOffload:
    """An Offload whose functions run when the test calls `run_next`."""

    def __init__(self) -> None:
        self.pending: list[tuple[Callable[[], Any], Deferred[Any]]] = []

    async def __call__(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        done: Deferred[Any] = Deferred()
        self.pending.append((partial(function, *args, **kwargs), done))
        return await done

    def run_next(self) -> None:
        """Run the oldest function and deliver its result."""
        self.compute_next()()

    def compute_next(self) -> Callable[[], None]:
        """Run the oldest function; return a function that delivers its result."""
        function, done = self.pending.pop(0)
        try:
            result = function()
        except Exception:
            result = Failure()
        return lambda: done.callback(result)


def outcomes(*deferreds: Deferred[Any]) -> list[Any]:
    """Return the result of each Deferred: `...` if it is pending, the exception type if it failed."""
    results: list[Any] = []
    for each in deferreds:
        each.addErrback(lambda failure: failure.type)
        results.append(getattr(each, "result", ...))
    return results


def run_concurrently(function: Callable[[int], None], count: int = 8) -> None:
    """Call `function` with 0, 1 … `count` - 1 in as many threads, which start together, and wait for all of them."""
    start = threading.Barrier(count)

    def run(number: int) -> None:
        start.wait()
        function(number)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class SqliteAdapterTest:
    """Base of the tests of an adapter. Each call of `open_database` acts as another process with the same folder."""

    open_database: Open

    @pytest.fixture(autouse=True)
    def _open_database(self, open_database: Open) -> None:
        self.open_database = open_database


@pytest.fixture
def quota_database(open_database: Open) -> Database:
    return open_database("quota")


@pytest.fixture
def clock() -> Clock:
    """Return a clock at 1,000,000 seconds."""
    clock = Clock()
    clock.advance(1_000_000)
    return clock

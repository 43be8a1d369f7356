"""Offloads: the reactor's thread pool, and threads of their own for functions that may wait for locks and disks."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from threading import Thread
from typing import Any, ParamSpec, TypeVar

from attrs import frozen
from twisted.internet.defer import Deferred, DeferredSemaphore
from twisted.internet.threads import deferToThreadPool
from twisted.python.threadpool import ThreadPool

from ..domain.errors import Unavailable
from ..domain.ports import runtime

P = ParamSpec("P")
T = TypeVar("T")


@frozen
class Offload:
    """Runs functions in the reactor's thread pool; before the reactor runs, in the calling thread."""

    _reactor: Any

    async def __call__(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        if not self._reactor.running:
            return function(*args, **kwargs)
        return await deferToThreadPool(self._reactor, self._reactor.getThreadPool(), function, *args, **kwargs)


def detached(work: Coroutine[Deferred[Any], Any, T]) -> Deferred[T]:
    """Return the result of `work`. To cancel it does not end `work`, because a function in a thread cannot be ended."""
    result: Deferred[T] = Deferred()
    Deferred.fromCoroutine(work).addCallbacks(result.callback, result.errback)
    return result


class Limited:
    """An Offload that runs at most `limit` functions of `offload` at once. Further ones wait in their order."""

    def __init__(self, offload: runtime.Offload, limit: int) -> None:
        self._offload = offload
        self._slots = DeferredSemaphore(limit)

    async def __call__(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        await self._slots.acquire()
        return await detached(self._run(partial(function, *args, **kwargs)))

    async def _run(self, function: Callable[[], T]) -> T:
        try:
            return await self._offload(function)
        finally:
            self._slots.release()


class OwnThreads:
    """An Offload with at most `limit` own threads, started on demand.

    While the reactor does not run, functions run at once in the thread of the caller. A process that ends without
    `stop`, because its start failed, does not wait for the threads. If `waiting` functions already wait for a thread,
    a further call raises Unavailable.
    """

    def __init__(self, reactor: Any, limit: int, waiting: int) -> None:
        self._reactor = reactor
        self._waiting = waiting
        self._asked = 0
        self._limit = limit
        self._pool = ThreadPool(0, limit)
        self._pool.threadFactory = partial(Thread, daemon=True)  # type: ignore[assignment]
        self._pool.start()

    async def __call__(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        if not self._reactor.running:
            return function(*args, **kwargs)
        if self._asked >= self._limit + self._waiting:
            raise Unavailable("Too much waits for the storage at the moment. Try again in a few seconds.")
        self._asked += 1
        try:
            return await deferToThreadPool(self._reactor, self._pool, function, *args, **kwargs)
        finally:
            self._asked -= 1

    def stop(self) -> None:
        """Stop the threads after their current work."""
        self._pool.stop()

"""The Offload of the reactor's thread pool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from attrs import frozen
from twisted.internet.threads import deferToThreadPool

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

"""What the server has of its process: threads, and files that may be open."""

from __future__ import annotations

import resource
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from attrs import frozen
from twisted.internet.threads import deferToThreadPool

P = ParamSpec("P")
T = TypeVar("T")


@frozen
class Threads:
    """Runs functions in the reactor's threads; while it does not run yet, at once, for nobody else is waiting."""

    _reactor: Any

    async def __call__(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        if not self._reactor.running:
            return function(*args, **kwargs)
        return await deferToThreadPool(self._reactor, self._reactor.getThreadPool(), function, *args, **kwargs)


def raise_file_limit() -> int:
    """Let this process open as many files as it may let itself; return how many (getrlimit(2), RLIMIT_NOFILE)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError):  # macOS says that there is no limit, and then has one.
        return soft
    return hard

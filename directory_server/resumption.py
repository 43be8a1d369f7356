"""A Deferred that resumes the coroutine that awaits it with one call."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, TypeVar

from twisted.internet.defer import CancelledError, Deferred
from twisted.python.failure import Failure

T = TypeVar("T")


class Resumption(Deferred[T]):
    """A Deferred for one coroutine, which awaits it at once.

    To run the callbacks of a Deferred takes several times as long as to resume a coroutine. The code that runs the
    coroutine may set `resume` in place of a callback. It is called once, with the result or a Failure. For all other
    code, this is a Deferred with callbacks.
    """

    resume: Callable[[Any], None] | None = None

    def __await__(self) -> Generator[Deferred[T], Any, T]:
        result: T = yield self
        return result

    def fire(self, result: T | Failure) -> None:
        """Resume the coroutine with a result or a Failure, unless it has been cancelled."""
        if self.resume is None:
            if not self.called:
                self.callback(result)
            return
        resume, self.resume = self.resume, None
        self.called = True
        resume(result)

    def cancel(self) -> None:
        """Resume the coroutine with CancelledError if it still waits."""
        if self.resume is not None:
            self.fire(Failure(CancelledError()))
        elif not self.called:
            super().cancel()

"""Periodic calls that no error ends, and a Bus that polls."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from twisted.application.service import Service
from twisted.internet.defer import CancelledError, Deferred, maybeDeferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import LoopingCall
from twisted.logger import Logger
from twisted.python.failure import Failure

from ..domain.errors import Unavailable


class Timer(Service):
    """Calls `function` every `interval` seconds of `clock`, and with `at_start` also when the service starts.

    The next call waits for the Deferred or coroutine that `function` returns. An error does not end the calls; the
    first of consecutive errors is logged, with its traceback unless a storage is unavailable. With `counts`, the
    argument is the number of intervals since the last call, which is above 1 if the reactor or a call was late.
    `finish` runs after the last call, before the stop has ended. With `cancels`, the stop cancels a call that runs.
    """

    _log = Logger()

    def __init__(
        self,
        interval: float,
        function: Callable[..., object],
        clock: IReactorTime,
        *,
        at_start: bool = True,
        counts: bool = False,
        finish: Callable[[], Coroutine[Deferred[Any], Any, None]] | None = None,
        cancels: bool = False,
    ) -> None:
        self._interval = interval
        self._function = function
        self._at_start = at_start
        self._finish = finish
        self._cancels = cancels
        self._called: Deferred[Any] | None = None
        self._is_failing = False
        self._loop = LoopingCall.withCount(self._call) if counts else LoopingCall(self._call)
        self._loop.clock = clock
        self._ended: Deferred[object] | None = None

    def startService(self) -> None:
        super().startService()
        # `_call` never fails, so the Deferred fires only after `stop`.
        self._ended = self._loop.start(self._interval, now=self._at_start).addCallback(self._end)

    def stopService(self) -> Deferred[object] | None:
        """Stop the calls; the Deferred fires after the last one. It does nothing if the service is stopped."""
        super().stopService()
        if self._loop.running:
            self._loop.stop()
        if self._cancels and self._called is not None:
            self._called.cancel()
        return self._ended

    def _end(self, _: object) -> Deferred[None] | None:
        return None if self._finish is None else Deferred.fromCoroutine(self._finish())

    def _call(self, *count: int) -> Deferred[object]:
        self._called = maybeDeferred(self._function, *count)
        return self._called.addCallbacks(self._succeeded, self._failed)

    def _succeeded(self, _: object) -> None:
        self._is_failing = False

    def _failed(self, failure: Failure) -> None:
        if failure.check(CancelledError):
            return
        if not self._is_failing:
            function = getattr(self._function, "func", self._function)
            name = getattr(function, "__qualname__", repr(function)).rpartition("<locals>.")[2]
            if failure.check(Unavailable):
                # The storage has logged its fault.
                self._log.warn("{name} waits: {reason}", name=name, reason=failure.getErrorMessage())
            else:
                self._log.failure("{name} failed; it is called again", failure=failure, name=name)
        self._is_failing = True


class Listeners:
    """Functions that `announce` calls, in the order in which they subscribed. An exception of one is logged."""

    _log = Logger()

    def __init__(self) -> None:
        self._listeners: list[Callable[[], None]] = []

    def announce(self) -> None:
        for wake in self._listeners:
            try:
                wake()
            except Exception:
                self._log.failure("A listener failed when it was woken")

    def subscribe(self, wake: Callable[[], None]) -> None:
        self._listeners.append(wake)


class PollingBus(Listeners, Timer):
    """A Bus that calls `poll` at its start, then every `interval` seconds of `clock`."""

    def __init__(self, poll: Callable[[], object], clock: IReactorTime, interval: float) -> None:
        Listeners.__init__(self)
        Timer.__init__(self, interval, poll, clock)

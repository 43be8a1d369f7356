"""Periodic check that the data directory is usable and was not replaced."""

from __future__ import annotations

from collections.abc import Callable

from twisted.application.service import Service
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import LoopingCall
from twisted.logger import Logger
from twisted.python.failure import Failure

from ..domain.ports.runtime import Offload
from ._data_directory import DataDirectory, DataDirectoryLost

INTERVAL = 2.0
"""Seconds between two checks."""

STALLED = 10.0
"""Seconds after which a check that has not ended is a fault: longer than a connection waits for a lock."""


class StorageWatch(Service):
    """Check `data` every INTERVAL seconds through `offload`; call `lost` with the reason once it was replaced.

    The checks keep `data.availability` up to date. A check that hangs is recorded there, too.
    """

    _log = Logger()

    def __init__(self, data: DataDirectory, offload: Offload, clock: IReactorTime, lost: Callable[[str], None]) -> None:
        self._data = data
        self._offload = offload
        self._clock = clock
        self._lost = lost
        self._began: float | None = None
        self._loop = LoopingCall(self._check)
        self._loop.clock = clock

    def startService(self) -> None:
        super().startService()
        self._loop.start(INTERVAL)

    def stopService(self) -> None:
        super().stopService()
        if self._loop.running:
            self._loop.stop()

    def _check(self) -> None:
        if self._began is None:
            self._began = self._clock.seconds()
            Deferred.fromCoroutine(self._checked()).addErrback(self._failed)
        elif self._clock.seconds() - self._began >= STALLED:
            reason = f"the storage has not answered for {STALLED:g} seconds"
            self._data.availability.failed(self._data.folder, "TIMEOUT", reason)

    async def _checked(self) -> None:
        try:
            await self._offload(self._data.check)
            self._data.availability.checked(self._data.folder)
        finally:
            self._began = None

    def _failed(self, failure: Failure) -> None:
        if not self.running:
            return
        if not failure.check(DataDirectoryLost):
            self._log.failure("The data directory could not be checked", failure=failure)
            return
        self._loop.stop()
        self._lost(str(failure.value))

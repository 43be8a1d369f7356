"""The Bus of one machine: polls SQLite's data version for commits of other processes."""

from __future__ import annotations

from twisted.application.service import Service
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import LoopingCall
from twisted.logger import Logger

from ..domain.errors import Unavailable
from ..listeners import Listeners
from ._connection import is_busy
from ._database import Database, data_version


class DataVersionBus(Listeners, Service):
    """Wakes the listeners after writes of other connections to `database`, polled every `interval` seconds.

    It also wakes them once at the start, for earlier writes.
    """

    _log = Logger()

    def __init__(self, database: Database, clock: IReactorTime, interval: float = 0.25) -> None:
        super().__init__()
        self._database = database
        self._interval = interval
        self._version: int | None = None
        self._failing = False
        self._loop = LoopingCall(self._poll)
        self._loop.clock = clock

    def startService(self) -> None:
        super().startService()
        self._loop.start(self._interval)

    def stopService(self) -> None:
        super().stopService()
        if self._loop.running:
            self._loop.stop()

    def _poll(self) -> None:
        try:
            # A poll must not wait for a lock; the next one sees the same version.
            with self._database.connection(wait=0) as connection:
                version = data_version(connection)
        except Unavailable as error:
            if is_busy(error):
                return
            if not self._failing:
                # The database logs the cause.
                self._log.warn("Changes of other processes cannot be seen until the database answers again")
            self._failing = True
            return
        self._failing = False
        if version != self._version:
            self._version = version
            self.announce()

"""The Bus of one machine: polls SQLite's data version for commits of other processes."""

from __future__ import annotations

from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from ..domain.errors import Unavailable
from ..listeners import PollingBus
from ._connection import is_busy
from ._database import Database, data_version


class DataVersionBus(PollingBus):
    """Wakes the listeners after writes of other connections to `database`, polled every `interval` seconds.

    It also wakes them once at the start, for earlier writes.
    """

    _log = Logger()

    def __init__(self, database: Database, clock: IReactorTime, interval: float = 0.25) -> None:
        super().__init__(self._poll, clock, interval)
        self._database = database
        self._version: int | None = None
        self._failing = False

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

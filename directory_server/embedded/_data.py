"""The data directory: everything that one machine keeps."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from ..errors import Unavailable
from ._availability import Availability
from ._database import Database, Synchronous
from ._secret import session_secret


class DataDirectory:
    """The files of a data directory.

    The quota has a database of its own, so that no import makes a charge wait. `synchronous` is what spent quota
    outlives: `normal` the death of the process, `full` the loss of power too, for a few milliseconds a charge.
    Entries and keys, written seldom, always outlive both: no revoked key comes back. Raises Unavailable.
    """

    def __init__(self, folder: Path, *, synchronous: Synchronous = "normal") -> None:
        self._folder = folder
        self.availability = Availability()
        self.directory = Database(folder, "directory", synchronous="full", availability=self.availability)
        self.quota = Database(folder, "quota", synchronous=synchronous, availability=self.availability)

    def check(self) -> None:
        """Check that the databases can be used, and note and log what has changed.

        The quota's is written to. Entries and keys are only read, for a commit there wakes every process, unless
        writing has failed: a success must then be one of writing, too.
        """
        failing = {fault.path for fault in self.availability.faults}
        for database in (self.directory, self.quota):
            with suppress(Unavailable):
                database.check(write=database is self.quota or database.path in failing)

    def session_secret(self) -> bytes:
        """Return the secret that signs sessions, making it at the first start."""
        return session_secret(self._folder)

    def close(self) -> None:
        """Close the databases."""
        self.directory.close()
        self.quota.close()

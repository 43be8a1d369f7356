"""The data directory: everything that one machine keeps."""

from __future__ import annotations

from pathlib import Path

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
        self.directory = Database(folder, "directory", synchronous="full")
        self.quota = Database(folder, "quota", synchronous=synchronous)

    def session_secret(self) -> bytes:
        """Return the secret that signs sessions, making it at the first start."""
        return session_secret(self._folder)

    def close(self) -> None:
        """Close the databases."""
        self.directory.close()
        self.quota.close()

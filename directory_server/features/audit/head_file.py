"""The signed head of the log in a file outside of the database: it shows that the last records are missing."""

from __future__ import annotations

import os
from pathlib import Path

from attrs import define, field
from twisted.logger import Logger

from ...domain.ports.runtime import Offload
from ...runtime.files import read_regular_file
from .chain import Checkpoint
from .tables import AuditLog

_logger = Logger()


def read_head(path: Path) -> Checkpoint | None:
    """Return the head in a file, None without one. That of another text has no signature. Raises OSError."""
    try:
        number, hashed, at, signature = read_regular_file(path, 200).decode("ascii", "replace").split()
        return Checkpoint(int(number), hashed, signature=signature, at=int(at))
    except FileNotFoundError:
        return None
    except ValueError:
        return Checkpoint(0, "")


@define
class HeadKeeper:
    """Writes the head of the log to a file when it has changed.

    A head that the log has not stays in the file, until an operator has found out why and deletes it.
    """

    _path: Path
    _log: AuditLog
    _key: bytes
    _offload: Offload
    _last: str = field(default="", init=False)

    async def write(self, now: float) -> None:
        """Write the head of the time `now`, in seconds since the epoch. Errors of the file are logged."""
        head = await self._log.head(now, self._key)
        if self._last == head.hash:
            return
        self._last = head.hash
        try:
            kept = await self._offload(read_head, self._path)
            if kept is None or not kept.is_signed(self._key) or await self._log.has(kept, self._key):
                await self._offload(self._write, head)
                if kept is None:
                    # The key is new, or an operator has verified the log.
                    await self._log.trust(self._key)
            else:
                _logger.error("No record {number} of {path} in the audit log", number=kept.number, path=self._path)
        except OSError as error:
            _logger.error("Cannot write {path}: {reason}", path=self._path, reason=error.strerror)

    def _write(self, head: Checkpoint) -> None:
        draft = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        draft.write_text(f"{head.number} {head.hash} {head.at} {head.signature}\n")
        draft.rename(self._path)

"""The signed head of the log in a file outside of the database: it shows that the last records are missing."""

from __future__ import annotations

import os
from pathlib import Path

from attrs import define, field
from twisted.logger import Logger

from ...domain.ports.runtime import Offload
from ...files import read_regular_file
from .chain import Checkpoint
from .tables import AuditLog

MAX_BYTES = 200

_logger = Logger()


def read_head(path: Path) -> Checkpoint | None:
    """Return the head in a file, None without one. That of another text has no signature. Raises OSError."""
    try:
        number, hashed, at, signature = read_regular_file(path, MAX_BYTES).decode("ascii", "replace").split()
        return Checkpoint(int(number), hashed, signature=signature, at=int(at))
    except FileNotFoundError:
        return None
    except ValueError:
        return Checkpoint(0, "")


def write_head(path: Path, head: Checkpoint) -> None:
    """Replace the head in a file. Raises OSError."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(f"{head.number} {head.hash} {head.at} {head.signature}\n")
    draft.rename(path)


@define
class HeadKeeper:
    """Writes the head of the log to a file when it has changed.

    A head that the log has not stays in the file, until an operator has found out why and deletes it.
    """

    _path: Path
    _log: AuditLog
    _key: bytes
    _offload: Offload
    _last: Checkpoint | None = field(default=None, init=False)

    async def write(self, now: float) -> None:
        """Write the head of the time `now`, in seconds since the epoch. Errors of the file are logged."""
        head = await self._log.head(now, self._key)
        if self._last is not None and self._last.hash == head.hash:
            return
        self._last = head
        try:
            kept = await self._offload(read_head, self._path)
            if kept is None or not kept.is_signed(self._key) or await self._log.has(kept):
                await self._offload(write_head, self._path, head)
            else:
                _logger.error(
                    "The audit log has not the record {number} of {path}: verify it.",
                    number=kept.number,
                    path=self._path,
                )
        except OSError as error:
            _logger.error("Cannot write {path}: {reason}", path=self._path, reason=error.strerror)

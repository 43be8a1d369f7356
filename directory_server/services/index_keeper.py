"""The file of the index: used at the start, kept up to date, and shared with the other processes of the machine."""

from __future__ import annotations

from collections.abc import Callable

from attrs import define, field
from twisted.logger import Logger

from ..domain.errors import Unavailable
from ..domain.ports.runtime import Offload
from ..domain.ports.search import Index, IndexFile
from ..domain.ports.storage import Store
from ..texts.wording import entries

INTERVAL = 60.0
"""Seconds between two checks of the file."""

MAX_CHANGES = 2_000
"""Changes after those in the file, from which it is written again."""

MAX_SHARE = 0.05
"""The share of the time in which a file is written."""

BATCH, BATCH_BYTES = 4_000, 8_000_000
"""Changes that a copy of the index receives at a time, and their bytes."""


@define
class IndexKeeper:
    """Keep the file of an index up to date. `seconds` is a clock."""

    _index: Index
    _file: IndexFile
    _store: Store
    _offload: Offload
    _seconds: Callable[[], float]
    _seq: int = 0
    """The `seq` of the file that was read last."""
    _next_write: float = 0.0
    _failed: str = field(default="", init=False)
    """The last failure that was logged."""

    _log = Logger()

    async def load(self) -> int:
        """Take the index from the file; return the `seq` of its latest change, 0 if there is no usable file."""
        if not await self._read():
            return 0
        await self._offload(self._file.adopt)
        return self._seq

    async def confirm(self, count: int) -> bool:
        """Return whether the index has `count` entries, as the store; empty it if it has not."""
        if len(self._index) == count:
            return True
        self._not_used(f"with it the index has {entries(len(self._index))}, and the directory has {count:,}")
        await self._offload(self._file.clear)
        return False

    async def check(self, seq: int) -> None:
        """Write the file if it is due, and take the index from a file that is new.

        The index has all changes to `seq`. One process of the machine writes it. A new file is mapped by all, so that
        they share its memory.
        """
        try:
            if await self._offload(self._file.is_other):
                await self._take()
            if self._file.is_outdated() or seq - self._seq >= MAX_CHANGES:
                await self._write(seq)
        except OSError as error:
            self._not_written(error.strerror or str(error))
        except Unavailable:
            # The adapter logs the cause.
            self._file.abandon()
        except Exception:
            self._file.abandon()
            raise

    async def _write(self, seq: int) -> None:
        began = self._seconds()
        if began < self._next_write:
            return
        self._next_write = began + INTERVAL
        log, last = await self._store.log_id(), await self._entry_of(seq)
        if await self._offload(self._file.write, log, seq, last):
            self._next_write = max(began + INTERVAL, self._seconds() + (self._seconds() - began) / MAX_SHARE)
            self._failed = ""
            await self._take()

    async def _take(self) -> None:
        """Take the index from the file, with the changes after it."""
        if not await self._read():
            return
        seq = self._seq
        while changes := await self._store.changes(seq, BATCH, BATCH_BYTES):
            await self._file.copy.apply(changes)
            seq = changes[-1].seq
        await self._offload(self._file.adopt)

    async def _read(self) -> bool:
        """Read the file; return whether it can be used."""
        self._seq = 0
        log = await self._store.log_id()
        try:
            seq, last = await self._offload(self._file.read, log)
        except FileNotFoundError:
            return False
        except (OSError, ValueError) as error:
            self._not_used(str(error))
            return False
        if await self._entry_of(seq) != last:
            self._file.abandon()
            self._not_used(f"the directory has no change {seq}, or another one")
            return False
        self._seq = seq
        return True

    async def _entry_of(self, seq: int) -> str:
        """Return the mcp_id of the change `seq`; empty if it is not in the log."""
        changes = await self._store.changes(seq - 1, 1) if seq else []
        return changes[0].mcp_id if changes and changes[0].seq == seq else ""

    def _not_used(self, reason: str) -> None:
        self._log.warn(
            "The file of the index {path} is not used and will be replaced: {reason}",
            path=str(self._file.path),
            reason=reason,
        )

    def _not_written(self, reason: str) -> None:
        if reason != self._failed:
            self._failed = reason
            self._log.warn(
                "The file of the index {path} cannot be written: {reason}", path=str(self._file.path), reason=reason
            )

"""Tracker: keeps the flags of look-alikes up to date with the change log, in one process at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from attrs import define, field

from ...domain.changes import Change
from ...domain.entries import mcp_id_of
from ...domain.flags import DUPLICATE, ENTRY_FLAGS, LOOKALIKE, EntryFlag
from ...domain.ports.runtime import Offload
from ...domain.ports.storage import Store
from ...serialization import restore_entry
from ...tables import Tables, flags_of_kinds, put_flags
from ...timers import Lease
from .finder import Finder
from .rules import DUPLICATE_NAME, Subject, subject_of

INTERVAL = 15.0
"""Seconds between two looks for new changes."""

LEASE, LEASE_NAME = 120.0, "flags of look-alikes"
"""Seconds for which a process may write flags without renewing its lease, and the name of the lease."""

BATCH, BATCH_BYTES = 500, 2_000_000
"""Changes, and about the bytes of entries, that are compared at a time."""

SLICE = 2_000
"""Entries whose originals are found at a time."""


@define
class Tracker:
    """Writes the flags of look-alikes, in the process that holds `lease`. `now` returns seconds since the epoch.

    Names that a pattern of `allowed` matches get no flag. `announce` tells other processes of changes.
    """

    _store: Store
    _lease: Lease
    _tables: Tables
    _offload: Offload
    _now: Callable[[], float]
    _announce: Callable[[], None]
    _allowed: Sequence[str]
    _finder: Finder | None = field(default=None, init=False)
    _seq: int = field(default=0, init=False)

    async def update(self) -> None:
        """Write the flags of all new changes, at first those of all entries, unless another process does."""
        if not await self._hold():
            return
        if self._finder is None or self._seq > await self._store.head():
            await self._load()
        await self._follow()

    async def _hold(self) -> bool:
        is_held = await self._lease.hold()
        if not is_held:
            # Another process has all entries in memory.
            self._finder = None
        return is_held

    async def _load(self) -> None:
        """Read all entries, and write the flags that differ from the stored ones."""
        finder, seq, after = Finder(), await self._store.head(), ""
        while page := await self._store.current(after, BATCH, BATCH_BYTES, ruled=True):
            await self._offload(_put, finder, page)
            after = page[-1].mcp_id
            if not await self._hold():
                return
        names, flags = sorted(finder), dict[str, Sequence[EntryFlag]]()
        for start in range(0, len(names), SLICE):
            found = await self._offload(self._flags, finder, names[start : start + SLICE])
            flags |= {mcp_id: each for mcp_id, each in found.items() if each}
        stored = await self._tables.read(lambda rows: flags_of_kinds(rows, ENTRY_FLAGS))
        await self._write({**dict.fromkeys(stored, ()), **flags})
        self._finder, self._seq = finder, seq

    async def _follow(self) -> None:
        """Write the flags that the changes after those that were read affect."""
        while self._finder is not None and (
            changes := await self._store.changes(self._seq, BATCH, BATCH_BYTES, ruled=True)
        ):
            await self._write(await self._offload(self._apply, self._finder, changes))
            self._seq = changes[-1].seq
            await self._hold()

    async def _write(self, flags: Mapping[str, Sequence[EntryFlag]]) -> None:
        if flags:
            changed = await self._tables.write(lambda rows: put_flags(rows, ENTRY_FLAGS, flags))
            if changed:
                self._announce()

    def _apply(self, finder: Finder, changes: Sequence[Change]) -> Mapping[str, Sequence[EntryFlag]]:
        """Put `changes` into `finder`; return the flags of all entries that they may affect, by their ids."""
        last = {change.mcp_id: change for change in changes}
        removed = {mcp_id for mcp_id, change in last.items() if change.body is None}
        names = [name for name in finder if mcp_id_of(name) in removed] if removed else []
        flags = self._flags(finder, finder.update({**dict.fromkeys(names), **_subjects(list(last.values()))}))
        return {**dict.fromkeys(removed, ()), **flags}

    def _flags(self, finder: Finder, names: Iterable[str]) -> Mapping[str, Sequence[EntryFlag]]:
        """Return the flags of the entries `names` by their ids, also those without any."""
        now = self._now()
        return {
            mcp_id_of(name): [
                EntryFlag(DUPLICATE if reason == DUPLICATE_NAME else LOOKALIKE, reason, now, other)
                for other, reason in finder.originals(name).items()
            ]
            if not any(fnmatchcase(name, pattern) for pattern in self._allowed)
            else ()
            for name in names
        }


def _put(finder: Finder, changes: Sequence[Change]) -> None:
    finder.put(_subjects(changes))


def _subjects(changes: Sequence[Change]) -> dict[str, Subject | None]:
    """Return the visible entries of `changes`, by name."""
    entries = (restore_entry(change.body) for change in changes if change.body is not None)
    return {entry.name: subject_of(entry) for entry in entries}

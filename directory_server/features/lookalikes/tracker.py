"""Tracker: keeps the flags of look-alikes up to date with the change log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from attrs import define, field

from ...domain.changes import Change
from ...domain.entries import mcp_id_of
from ...domain.flags import DUPLICATE, ENTRY_FLAGS, LOOKALIKE
from ...domain.notes import Note
from ...domain.ports.runtime import Offload
from ...runtime.follower import Followed, Follower
from ...serialization import restore_entry
from ...tables import Tables, notes_of_kinds, put_notes
from .finder import Finder
from .rules import DUPLICATE_NAME, Subject, subject_of

INTERVAL = 15.0
"""Seconds between two looks for new changes."""

NAME = "flags of look-alikes"

SLICE = 2_000
"""Entries whose originals are found at a time."""

Flags = Mapping[str, Sequence[Note]]
"""The flags of entries by their ids."""


@define
class Tracker:
    """Writes the flags of look-alikes. `now` returns seconds since the epoch.

    Names that a pattern of `allowed` matches get no flag.
    """

    _tables: Tables
    _offload: Offload
    _now: Callable[[], float]
    _allowed: Sequence[str]
    _finder: Finder = field(factory=Finder, init=False)
    _is_loaded: bool = field(default=False, init=False)
    _moved: dict[str, str] = field(factory=dict, init=False)
    """The new names of entries that have moved: these are no look-alikes of them."""

    def follower(self, storage: Followed, clock: Any, announce: Callable[[], None]) -> Follower:
        """Return the service."""
        return Follower(
            storage,
            clock,
            announce,
            NAME,
            self.apply,
            begin=self.begin,
            complete=self.complete,
            in_memory=True,
            interval=INTERVAL,
        )

    def begin(self) -> None:
        """Forget all entries."""
        self._finder, self._is_loaded = Finder(), False

    async def apply(self, changes: Sequence[Change]) -> bool:
        """Write the flags that `changes` affect, once all entries are known."""
        if self._is_loaded:
            return await self._write(await self._offload(self._affected, changes))
        await self._offload(self._load, changes)
        return False

    async def complete(self) -> bool:
        """Write the flags of all entries that differ from the stored ones."""
        names, flags = sorted(self._finder), dict[str, Sequence[Note]]()
        for start in range(0, len(names), SLICE):
            slice_flags = await self._offload(self._flags, names[start : start + SLICE])
            flags |= {mcp_id: listed for mcp_id, listed in slice_flags.items() if listed}
        stored = await self._tables.read(lambda rows: notes_of_kinds(rows, ENTRY_FLAGS))
        is_changed = await self._write({**dict.fromkeys(stored, ()), **flags})
        self._is_loaded = True
        return is_changed

    async def _write(self, flags: Flags) -> bool:
        return bool(flags) and bool(await self._tables.write(lambda rows: put_notes(rows, ENTRY_FLAGS, flags)))

    def _load(self, changes: Sequence[Change]) -> None:
        self._finder.put(self._subjects(changes))

    def _affected(self, changes: Sequence[Change]) -> Flags:
        """Put `changes` into the finder; return the flags of all entries that they may affect."""
        return self._flags(self._finder.update(self._subjects(changes)))

    def _flags(self, names: Iterable[str]) -> Flags:
        """Return the flags of the entries `names`, also those without any."""
        now = self._now()
        return {
            mcp_id_of(name): [
                Note(DUPLICATE if reason == DUPLICATE_NAME else LOOKALIKE, reason, now, other)
                for other, reason in self._finder.originals(name).items()
                if self._moved.get(other) != name and self._moved.get(name) != other
            ]
            if not any(fnmatchcase(name, pattern) for pattern in self._allowed)
            else ()
            for name in names
        }

    def _subjects(self, changes: Sequence[Change]) -> dict[str, Subject | None]:
        """Return the entries of `changes` by name, None for those that are not visible any more."""
        for change in changes:
            self._moved.pop(change.name, None)
            if change.ending is not None and change.ending.state == "moved":
                self._moved[change.name] = change.ending.replaced_by
        bodies = {change.name: change.body for change in changes}
        return {name: None if body is None else subject_of(restore_entry(body)) for name, body in bodies.items()}

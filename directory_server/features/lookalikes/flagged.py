"""Look-alikes in a server: the follower that flags them, and their flags in the views of entries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from operator import attrgetter
from typing import Any

from attrs import define, evolve, field, frozen

from ...domain.changes import Change
from ...domain.entries import mcp_id_of
from ...domain.limits import NAME
from ...domain.notes import DUPLICATE, ENTRY_FLAGS, LOOKALIKE, FlagView, Note
from ...domain.ports.additions import ADDITIONS, PUBLISHED_CHECKS, EntryAdditions, PublishedCheck
from ...domain.ports.runtime import Offload
from ...domain.views import Detail
from ...feature.server import SERVICES, Server
from ...runtime.follower import Followed, Follower
from ...serialization import FLAG_META, restore_entry, rfc3339
from ...services.known_notes import KnownNotes
from ...tables import Tables, notes_of_kinds, put_notes
from ...texts.sanitize import clean_line
from .check import NameCheck
from .finder import Finder
from .rules import DUPLICATE_NAME, Subject, subject_of
from .settings import LookalikesConfig

INTERVAL = 15.0
"""Seconds between two looks for new changes."""

FOLLOWER = "flags of look-alikes"

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
        return Follower(
            storage,
            clock,
            announce,
            FOLLOWER,
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


MAX_NOTES = 20
"""Look-alikes that the view of their original names."""


@frozen
class Flagged(EntryAdditions):
    """Flags of look-alikes, in the views of both entries."""

    _notes: KnownNotes

    def add_summary(self, detail: Detail) -> Detail:
        """Return `detail` with the flags of its entry, and those that name it as the original."""
        own = [note for note in self._notes.of(detail.mcp_id) if note.kind in ENTRY_FLAGS]
        naming = [note for note in self._notes.naming(detail.mcp_id) if note.kind in ENTRY_FLAGS]
        copies = sorted(naming, key=attrgetter("name"))[:MAX_NOTES]
        if not (own or copies):
            return detail
        views = [
            *(_view(note, note.other, is_original=False) for note in own),
            *(_view(note, note.name, is_original=True) for note in copies),
        ]
        flags = dict.fromkeys([*detail.flags, *(note.kind for note in own)])
        return evolve(detail, flags=(*flags,), flag_notes=(*detail.flag_notes, *views))

    def registry_meta(self, mcp_id: str, sees: Callable[[str], bool]) -> Mapping[str, object]:
        """Return the flags of the entry `mcp_id` for the registry API."""
        flags = [
            {
                "kind": note.kind,
                "reason": note.reason,
                "since": rfc3339(note.since),
                "other": clean_line(note.other, NAME) if note.other and sees(mcp_id_of(note.other)) else "",
            }
            for note in self._notes.of(mcp_id)
            if note.kind in ENTRY_FLAGS
        ]
        return {FLAG_META: flags} if flags else {}


def _view(note: Note, name: str, *, is_original: bool) -> FlagView:
    """Return the view of a flag that names the other entry `name`."""
    mcp_id = mcp_id_of(name) if name else ""
    return FlagView(note.kind, note.reason, rfc3339(note.since), mcp_id, clean_line(name, NAME), is_original)


def run(server: Server) -> None:
    """Add what finds look-alikes, and what requests read of them."""
    settings, storage = server.config.of(LookalikesConfig), server.storage
    tracker = Tracker(storage.background_tables, server.offload, server.now, settings.allow)
    check: PublishedCheck = NameCheck(storage.store, storage.background_tables, server.offload, settings.allow)
    server.add(SERVICES, tracker.follower(storage, server.reactor, server.bus.announce))
    server.add(ADDITIONS, Flagged(server.notes))
    server.add(PUBLISHED_CHECKS, check)

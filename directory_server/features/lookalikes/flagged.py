"""Look-alikes in a server: the check of new names, the follower that flags entries, and flags in views of entries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from operator import attrgetter
from typing import Any

from attrs import define, evolve, field, frozen
from twisted.internet.defer import DeferredLock

from ...domain.changes import Change
from ...domain.entries import Entry, mcp_id_of
from ...domain.errors import BadInput
from ...domain.limits import NAME
from ...domain.notes import DUPLICATE, ENTRY_FLAGS, LOOKALIKE, FlagView, Note
from ...domain.ports.additions import ADDITIONS, PUBLISHED_CHECKS, EntryAdditions, PublishedCheck
from ...domain.ports.runtime import Offload
from ...domain.ports.storage import Store
from ...domain.views import Detail
from ...feature.server import SERVICES, Server
from ...serialization import FLAG_META, restore_entry, rfc3339
from ...services.follower import Followed, Follower
from ...services.known_notes import KnownNotes
from ...tables import Tables, notes_of_kinds, put_notes
from ...texts.sanitize import clean_line
from .finder import Finder
from .names import name_of
from .rules import DUPLICATE_NAME, POPULAR, Subject, is_like, resemblance, subject_of
from .settings import LookalikesConfig

PAGE = 2_000
"""Names that are read at a time."""

MAX_ALIKE = 5_000
"""Names with the same key that are compared."""

MAX_CANDIDATES = 100
"""Entries that are read because their names are alike."""

_NAMES = """
    SELECT name FROM entry WHERE visible_id IS NOT NULL AND name > :after ORDER BY name LIMIT :limit
"""

_NEW_NAMES = """
    SELECT name FROM change INNER JOIN entry ON entry.mcp_id = change.mcp_id
    WHERE change.seq > :after AND change.seq <= :head AND kind = 'added'
"""

_TEXTS = {
    "same_name": "differs from it in letter case, separators or letters that look the same only",
    "confusable": "has letters that look like those of it",
    "misspelt_owner": "differs from it in one letter of the owner",
    "misspelt_product": "differs from this popular name in one letter",
    "claims_publisher": "adds a word to it that claims its publisher",
}


@define(eq=False)
class NameCheck:
    """Rejects new names that resemble visible entries of other owners. A pattern of `allowed` excepts names."""

    _store: Store
    _tables: Tables
    _offload: Offload
    _allowed: Sequence[str]
    _known: Finder = field(factory=Finder, init=False)
    """All names, also of entries that are visible no more. They are read when the first new name is published."""
    _seq: int = field(default=-1, init=False)
    _lock: DeferredLock = field(factory=DeferredLock, init=False)

    async def __call__(self, entry: Entry) -> None:
        """Raise BadInput if the name of `entry` is new and resembles another one."""
        name = entry.name
        if any(fnmatchcase(name, pattern) for pattern in self._allowed):
            return
        if await self._store.preferred([name]):
            # Only the first version brings a new name.
            return
        newcomer = subject_of(entry)
        for candidate in await self._store.entries([mcp_id_of(other) for other in await self._alike(name)]):
            reason = resemblance(newcomer, subject_of(candidate))
            if reason:
                raise BadInput(
                    f"name: {name} resembles {candidate.name}: it {_TEXTS[reason]}. Choose another name, or ask the "
                    "operator of this directory to add it to lookalikes.allow.",
                    code="lookalike",
                )

    async def _alike(self, name: str) -> Sequence[str]:
        await self._lock.acquire()
        try:
            await self._read_names()
            return await self._offload(self._find, name)
        finally:
            self._lock.release()

    async def _read_names(self) -> None:
        """Read the names that were added since the last time, at first all names."""
        head, after = await self._store.head(), ""
        if self._seq >= 0:
            names = await self._tables.select(_NEW_NAMES, after=self._seq, head=head)
            await self._offload(self._put, names)
        else:
            while names := await self._tables.select(_NAMES, after=after, limit=PAGE):
                await self._offload(self._put, names)
                after = names[-1][0]
        self._seq = head

    def _put(self, rows: Sequence[tuple[str]]) -> None:
        self._known.put({name: Subject(name) for (name,) in rows})

    def _find(self, name: str) -> Sequence[str]:
        new = name_of(name)
        alike = self._known.alike([Subject(name, stars=POPULAR)], MAX_ALIKE)
        others = (other for other in alike if name_of(other).owner_id != new.owner_id)
        return sorted(other for other in others if is_like(new, name_of(other)))[:MAX_CANDIDATES]


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

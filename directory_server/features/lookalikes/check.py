"""Check of new names that are published to this directory."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from attrs import define, field
from twisted.internet.defer import DeferredLock

from ...domain.entries import Entry, mcp_id_of
from ...domain.errors import BadInput
from ...domain.ports.runtime import Offload
from ...domain.ports.storage import Store
from ...tables import Tables
from .finder import Finder
from .names import name_of
from .rules import POPULAR, Subject, is_like, resemblance, subject_of

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

"""Selection of the entries that managed settings allow, and of those that they deny."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence

from attrs import evolve, field, frozen

from ... import serialization
from ...domain.changes import Change
from ...domain.endings import Ending, ending_of
from ...domain.entries import Entry, mcp_id_of
from ...domain.errors import BadInput, NotFound
from ...domain.notes import ACCEPTED, ENDING, Note, accepted_marks
from ...domain.ports.runtime import Offload
from ...domain.ports.storage import Store
from ...domain.scopes import Scope
from ...domain.withholding import entry_marks
from ...search import TextAnalysis, percolate
from ...tables import StoredCuration, Tables, notes_of_kinds
from .documents import Policy, PolicyBuilder

MAX_ENTRIES = 5_000
"""Entries of a selection, and as many hidden ones."""

STEP = 50
"""Entries that are read and converted in one step, in a thread."""


_PICKED = "SELECT name FROM list_pick WHERE list = :name"


@frozen
class Selection:
    """Reads the entries for managed settings: the curated ones, or those of a list, allow, the hidden ones deny.

    Only entries that somebody has chosen by name are deployed: a publisher can write what the rule of a list selects.
    """

    store: Store
    _curation: StoredCuration
    _offload: Offload
    _tables: Tables
    _analysis: TextAnalysis = field(factory=TextAnalysis)
    _list: str = ""

    def within(self, scope: Scope, name: str = "") -> Selection:
        """Return the selection of the entries within `scope`; of all these if it is that of the list `name`."""
        return evolve(self, store=self.store if scope is None else self.store.within(scope), list=name)

    async def policy(self, keywords: str) -> Policy:
        """Return the policy of the selected entries. Raises BadInput for the keywords, and NotFound without an entry.

        An empty allow list would block all servers.
        """
        if keywords:
            serialization.search_query(keywords, 1)
        builder, curated = PolicyBuilder(), await self._curation.curated()
        chosen = {flags.name for flags in curated if flags.local or flags.pinned or flags.allowed}
        chosen.update([name for (name,) in await self._tables.select(_PICKED, name=self._list)])
        notes = await self._tables.read(lambda rows: notes_of_kinds(rows, [ACCEPTED, ENDING]))
        moved = {name: ending.replaced_by for name in chosen if (ending := _move_of(name, notes))}
        chosen.update(moved.values())
        allowed: set[str] = set()

        def allow(entry: Entry) -> None:
            allowed.add(entry.name)
            builder.allow(entry, _withheld(entry, chosen, accepted_marks(notes.get(entry.mcp_id, ()))))

        await self._add_all(self._selected(), keywords, allow)
        # Machines that have the old name get the new one too.
        others = sorted({new for old, new in moved.items() if old in allowed} - allowed)
        await self._add_all(self._latest(others, include_hidden=False), "", allow)
        if not builder.has_entries:
            selected = f"is in the list {self._list!r}" if self._list else "is curated"
            matching = f" and matches {keywords!r}" if keywords else ""
            raise NotFound(f"No entry {selected}{matching}. An empty allow list would block all servers.")
        await self._add_all(self._latest([flags.name for flags in curated if flags.hidden]), "", builder.deny)
        return builder.policy()

    async def _add_all(
        self, steps: AsyncIterator[Sequence[bytes]], keywords: str, add: Callable[[Entry], None]
    ) -> None:
        count = 0

        def convert(bodies: Sequence[bytes]) -> int:
            entries = [entry for body in bodies if self._matches(entry := serialization.restore_entry(body), keywords)]
            for entry in entries:
                add(entry)
            return len(entries)

        async for bodies in steps:
            count += await self._offload(convert, bodies)
            if count > MAX_ENTRIES:
                raise BadInput(
                    f"keywords: must select at most {MAX_ENTRIES:,} entries. Add a filter, such as category:…"
                )

    def _matches(self, entry: Entry, keywords: str) -> bool:
        if not keywords:
            return True
        change = Change(0, "added", "", b"", self._analysis(entry))
        return bool(percolate(change, (keywords,)))

    async def _selected(self) -> AsyncIterator[Sequence[bytes]]:
        """Yield the latest versions of the curated entries, or of those of the list, ordered by name."""
        after = ("", "")
        while versions := await self.store.listing(after, STEP, curated=not self._list):
            yield [version.body for version in versions if not version.deleted]
            after = versions[-1].name, versions[-1].version

    async def _latest(self, names: Sequence[str], *, include_hidden: bool = True) -> AsyncIterator[Sequence[bytes]]:
        """Yield the latest versions of entries, in the order of `names`."""
        for name in names:
            version = await self.store.version(name, "latest", include_hidden=include_hidden)
            if version is not None and not version.deleted:
                yield [version.body]


def _move_of(name: str, notes: Mapping[str, Sequence[Note]]) -> Ending | None:
    ending = ending_of(name, notes.get(mcp_id_of(name), ()))
    return ending if ending is not None and ending.state == "moved" else None


def _withheld(entry: Entry, chosen: Collection[str], accepted: Collection[str]) -> str:
    """Return the code of the warning why an entry is not deployed, empty if it is."""
    if entry.name not in chosen:
        return "unchosen"
    return "marked" if any(mark.id not in accepted for mark in entry_marks(entry)) else ""

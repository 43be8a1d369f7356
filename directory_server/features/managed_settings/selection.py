"""Selection of the entries that managed settings allow, and of those that they deny."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence

from attrs import evolve, field, frozen

from ... import serialization
from ...domain.changes import Change
from ...domain.entries import Entry
from ...domain.errors import BadInput, NotFound
from ...domain.ports.runtime import Offload
from ...domain.ports.storage import Store
from ...domain.scopes import Scope
from ...search import TextAnalysis, percolate
from ...tables import StoredCuration
from .documents import Policy, PolicyBuilder

MAX_ENTRIES = 5_000
"""Entries of a selection, and as many hidden ones."""

STEP = 50
"""Entries that are read and converted in one step, in a thread."""


@frozen
class Selection:
    """Reads the entries for managed settings: the curated ones allow, the hidden ones deny.

    Of a list all entries allow: an operator has decided on them.
    """

    _store: Store
    _curation: StoredCuration
    _offload: Offload
    _analysis: TextAnalysis = field(factory=TextAnalysis)
    _list: str = ""

    def within(self, scope: Scope, name: str = "") -> Selection:
        """Return the selection of the entries within `scope`; of all these if it is that of the list `name`."""
        return evolve(self, store=self._store if scope is None else self._store.within(scope), list=name)

    async def policy(self, keywords: str) -> Policy:
        """Return the policy of the selected entries. Raises BadInput for the keywords, and NotFound without an entry.

        An empty allow list would block all servers.
        """
        if keywords:
            serialization.search_query(keywords, 1)
        builder = PolicyBuilder()
        await self._add_all(self._selected(), keywords, builder.allow)
        if not builder.has_entries:
            selected = f"is in the list {self._list!r}" if self._list else "is curated"
            matching = f" and matches {keywords!r}" if keywords else ""
            raise NotFound(f"No entry {selected}{matching}. An empty allow list would block all servers.")
        await self._add_all(self._hidden(), "", builder.deny)
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
        while versions := await self._store.listing(after, STEP, curated=not self._list):
            yield [version.body for version in versions if not version.deleted]
            after = versions[-1].name, versions[-1].version

    async def _hidden(self) -> AsyncIterator[Sequence[bytes]]:
        """Yield the latest versions of hidden entries, ordered by name."""
        after = ""
        while names := await self._curation.curated(after, STEP):
            found = [
                await self._store.version(each.name, "latest", include_hidden=True) for each in names if each.hidden
            ]
            yield [version.body for version in found if version is not None and not version.deleted]
            after = names[-1].name

"""The directory itself: what people and editors can do with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from attrs import evolve, field, frozen

from ..domain.changes import Change, Outcome
from ..domain.entries import Detail, Entry, mcp_id_of
from ..domain.errors import Gone, NotFound
from ..domain.ports.runtime import Bus
from ..domain.ports.search import Index
from ..domain.ports.storage import READ_BYTES, Store
from ..domain.search import PAGE_BYTES, Page, Position, Query
from ..domain.versions import Version
from .page_cache import PageCache

T = TypeVar("T")


@frozen
class Directory:
    """Search, look up and publish entries."""

    _store: Store
    _index: Index
    _bus: Bus
    _pages: PageCache = field(factory=PageCache, init=False, repr=False)

    async def search(self, query: Query) -> Page:
        """Return the hits for `query`, best first; fewer than its limit where they have more than PAGE_BYTES."""
        asked = self._index.generation, query
        page = self._pages.get(asked)
        if page is None:
            page = await self._index.search(query)
            if page.size > PAGE_BYTES:
                page = await self._index.search(evolve(query, limit=page.count_within(PAGE_BYTES)))
            self._pages.put(asked, page)
        return page

    async def detail(self, mcp_id: str) -> Detail:
        """Return all that is known of the entry `mcp_id`. Raises NotFound."""
        entry = await self._store.entry(mcp_id)
        if entry is None:
            raise NotFound(f"No entry has the mcp_id {mcp_id}.")
        return entry.detail()

    async def entries(self, mcp_ids: Iterable[str]) -> Sequence[Entry]:
        """Return those of the entries with these ids that are still here, in that order."""
        found = [await self._store.entry(mcp_id) for mcp_id in mcp_ids]
        return [entry for entry in found if entry is not None]

    async def newest(self, limit: int, of: Callable[[Entry], T]) -> Sequence[T]:
        """Return what `of` makes of each of the `limit` entries that were added last, the latest first."""
        return await self._store.newest(limit, of)

    async def log_id(self) -> str:
        """Return the id of the change log."""
        return await self._store.log_id()

    async def check_place(self, seq: int, log: str | None = None) -> None:
        """Raise Gone where the log cannot be read on from behind `seq`, given out from the log with the id `log`.

        It may have been pruned beyond that, or be another log: a backup was restored since `seq` was given out. Where
        `log` is None, the second is known only by a log that does not reach `seq`.
        """
        oldest, head = await self._store.oldest(), await self._store.head()
        if log is not None and log != await self._store.log_id():
            raise Gone(seq, oldest, head, was_restored=True)
        if not oldest - 1 <= seq <= head:
            raise Gone(seq, oldest, head)

    async def head(self) -> int:
        """Return the `seq` of the latest change."""
        return await self._store.head()

    async def changes(self, after: int, limit: int) -> Sequence[Change]:
        """Return at most `limit` changes behind `after`, in order, each with the entry shown now.

        There are fewer where entries are large, and none only where there are no more.
        """
        return await self._store.changes(after, limit)

    async def listing(
        self,
        after: tuple[str, str],
        limit: int,
        *,
        versions: str = "latest",
        updated_since: float | None = None,
        include_deleted: bool = False,
        curated: bool = False,
        most: int = READ_BYTES,
    ) -> Sequence[Version]:
        """Return at most `limit` versions in the order of names, as Store.listing describes it."""
        return await self._store.listing(
            after,
            limit,
            versions=versions,
            updated_since=updated_since,
            include_deleted=include_deleted,
            curated=curated,
            most=most,
        )

    async def versions(self, name: str, after: str, limit: int, most: int) -> Sequence[Version]:
        """Return versions of the server called `name`, as Store.versions describes it; none where it is hidden."""
        return await self._store.versions(name, after, limit, most)

    async def version(self, name: str, version: str) -> Version | None:
        """Return a version of the server called `name`, "latest" for the latest; None where there is none."""
        return await self._store.version(name, version)

    async def found(self, query: Query, most: int = READ_BYTES) -> tuple[Sequence[Version], Position | None]:
        """Return the latest versions of the hits for `query`, best first, and where the next page begins.

        The page ends behind the version that brings the bytes of all to `most`.
        """
        page = await self.search(query)
        versions = await self._store.latest([hit.mcp_id for hit in page.hits], most)
        if versions and sum(len(each.body) for each in versions) >= most:
            last = mcp_id_of(versions[-1].name)
            count = next(number for number, hit in enumerate(page.hits, 1) if hit.mcp_id == last)
            if count < len(page.hits):
                page = await self.search(evolve(query, limit=count))
        return versions, page.next

    async def publish(self, source: str, entries: Sequence[Entry]) -> Sequence[Outcome]:
        """Keep `entries` of `source`; return what became of each, in order.

        Raises Unavailable where the store cannot write; see Store.publish for what stays then.
        """
        outcomes = await self._store.publish(source, entries)
        if "added" in outcomes or "changed" in outcomes:
            self._bus.announce()
        return outcomes

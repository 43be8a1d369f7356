"""Use cases of the directory: search, look up, publish."""

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
from .page_cache import CachedPage, PageCache

T = TypeVar("T")


@frozen
class Directory:
    """Search, look up and publish entries."""

    _store: Store
    _index: Index
    _bus: Bus
    _pages: PageCache = field(factory=PageCache, init=False, repr=False)

    async def search(self, query: Query) -> Page:
        """Return the hits for `query`, best first; fewer than its limit if they exceed PAGE_BYTES."""
        return (await self._cached(query)).page

    async def search_form(self, query: Query, make: Callable[[Page], T]) -> tuple[Page, T]:
        """Return `search(query)`, and `make` of that page, which is cached with it."""
        cached = await self._cached(query)
        return cached.page, cached.form(make)

    async def detail(self, mcp_id: str) -> Detail:
        """Return the full view of the entry `mcp_id`. Raises NotFound."""
        entry = await self._store.entry(mcp_id)
        if entry is None:
            raise NotFound(f"No entry has the mcp_id {mcp_id}.")
        return entry.detail()

    async def entries(self, mcp_ids: Iterable[str]) -> Sequence[Entry]:
        """Return the entries with these ids that still exist, in that order."""
        found = [await self._store.entry(mcp_id) for mcp_id in mcp_ids]
        return [entry for entry in found if entry is not None]

    async def newest(self, limit: int, of: Callable[[Entry], T]) -> Sequence[T]:
        """Return `of(entry)` for the `limit` entries that were added last, the latest first."""
        return await self._store.newest(limit, of)

    async def log_id(self) -> str:
        """Return the id of the change log."""
        return await self._store.log_id()

    async def check_position(self, seq: int, log: str | None = None) -> None:
        """Raise Gone if the change log cannot be read on after `seq`, which was given out by the log with id `log`.

        The log may have been pruned beyond `seq`, or replaced by a restored backup. If `log` is None, a replaced log is
        detected only if it does not reach `seq`.
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
        """Return at most `limit` changes after `after`, in order, each with the now visible entry.

        Large entries make the result shorter; only an empty result means that there are no more.
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
        """Return at most `limit` versions, ordered by name; see Store.listing."""
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
        """Return versions of the server `name`, none if it is hidden; see Store.versions."""
        return await self._store.versions(name, after, limit, most)

    async def version(self, name: str, version: str) -> Version | None:
        """Return a version of the server `name`; "latest" is the latest one. None if there is none."""
        return await self._store.version(name, version)

    async def search_versions(self, query: Query, most: int = READ_BYTES) -> tuple[Sequence[Version], Position | None]:
        """Return the latest versions of the hits for `query`, best first, and the position of the next page.

        The page ends after the version that brings the total bytes to `most`.
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
        """Store `entries` of `source`; return the outcomes in order.

        Raises Unavailable if the store cannot write; see Store.publish for what stays committed.
        """
        outcomes = await self._store.publish(source, entries)
        if "added" in outcomes or "changed" in outcomes:
            self._bus.announce()
        return outcomes

    async def _cached(self, query: Query) -> CachedPage:
        key = self._index.generation, query
        cached = self._pages.get(key)
        if cached is not None:
            return cached
        page = await self._index.search(query)
        if page.size > PAGE_BYTES:
            page = await self._index.search(evolve(query, limit=page.count_within(PAGE_BYTES)))
        return self._pages.put(key, page)

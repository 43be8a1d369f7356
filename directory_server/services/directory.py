"""Use cases of the directory: search, look up, publish."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from attrs import define, evolve, field

from ..domain.changes import Outcome
from ..domain.entries import Entry, mcp_id_of
from ..domain.errors import BadInput, NotFound
from ..domain.kinds import SERVER
from ..domain.ports.additions import AcceptedMarks, EntryAdditions, PublishedCheck, none_accepted
from ..domain.ports.runtime import Bus, Offload
from ..domain.ports.search import Index, LikenessSource, no_users
from ..domain.ports.storage import READ_BYTES, Store
from ..domain.scopes import Scope
from ..domain.search import PAGE_BYTES, Page, Position, Query, ToolHit, no_likeness
from ..domain.trust import trust_text
from ..domain.versions import LATEST, Version, VersionFilter
from ..domain.views import Detail, Hit
from ..domain.withholding import marked_detail
from ..runtime.run_sync import inline
from .page_cache import CachedPage, PageCache, key_of

T = TypeVar("T")
V = TypeVar("V", Detail, Hit)


Source = tuple[str, str]
"""The API that a search came from, and the identity of its client: the id of an account or a key, or a network."""

SearchObserver = Callable[[str, str, str, bool], None]
"""Called for each search with the two parts of its Source, its keywords, and whether it has hits; not for later pages.
"""


OpenObserver = Callable[[str, str], None]
"""Called with the id of each entry that was opened, and that of the account or key, which may be empty."""


@define(eq=False)
class Directory:
    """Search, look up and publish entries. `additions` are what features add to the views of entries.

    `checks` may reject new versions that are published here.
    `accepted` returns the ids of the marks of an entry that an operator has accepted.
    With `hides_names` a check that rejects an entry does not name others, which its publisher may not see.
    `users` returns how many accounts use entries, by the ids of these.
    Searches and look-ups find only entries within `scope`. `store` is the store for readers of this scope.
    """

    _store: Store
    _index: Index
    _bus: Bus
    _searched: Sequence[SearchObserver] = ()
    _additions: Sequence[EntryAdditions] = ()
    _likeness: LikenessSource | None = None
    _opened: Sequence[OpenObserver] = ()
    users: Callable[[], Mapping[str, int]] = no_users
    _checks: Sequence[PublishedCheck] = ()
    _accepted: AcceptedMarks = none_accepted
    _offload: Offload = inline
    _hides_names: bool = False
    _scope: Scope = None
    _pages: PageCache = field(factory=PageCache, repr=False)
    store: Store = field(init=False, repr=False)

    @store.default
    def _store_within(self) -> Store:
        return self._store if self._scope is None else self._store.within(self._scope)

    def within(self, scope: Scope) -> Directory:
        """Return the directory for readers of `scope`. Pages in the cache have their scope in the key."""
        return self if scope is None else evolve(self, scope=scope)

    async def count(self) -> int:
        """Return the number of entries within the scope."""
        if self._scope is None:
            return len(self._index)
        summary = (await self.search(Query("", 1, browse=True))).summary
        return 0 if summary is None else summary.total

    async def search(self, query: Query, source: Source | None = None) -> Page:
        """Return the hits for `query`, best first; fewer than its limit if they exceed PAGE_BYTES.

        A search without `source` does not count.
        """
        return (await self._counted(query, source)).page

    async def search_form(
        self, query: Query, make: Callable[..., T], source: Source | None = None, *values: object
    ) -> T:
        """Return `make` of `search(query, source)` and `values`, cached with that page once it is used again."""
        return (await self._counted(query, source)).form(make, *values)

    async def search_tools(self, query: Query, source: Source | None = None) -> Sequence[ToolHit]:
        """Return the tools that match `query`, best first."""
        hits = await self._index.search_tools(self._scoped(query))
        if source:
            self._count(source, query, bool(hits))
        return hits

    def hits(self, mcp_ids: Iterable[str]) -> Mapping[str, Hit]:
        """Return the hits of those of the entries `mcp_ids` that are searchable, whatever their scope, by their ids."""
        return {mcp_id: self._shown(hit) for mcp_id, hit in self._index.hits(mcp_ids).items()}

    def sees(self, mcp_id: str) -> bool:
        """Return whether an entry is searchable within the scope."""
        return self._scope is None or self._index.has(mcp_id, self._scope)

    async def prepare(self, query: Query) -> Query:
        """Return `query` with the likeness that it has now: several searches for it then have the same order."""
        if self._likeness is None or query.likeness is not None:
            return query
        return evolve(query, likeness=await self._likeness(query) or no_likeness)

    async def detail(self, mcp_id: str, client: str = "", *, only_servers: bool = False) -> Detail:
        """Return the full view of the entry `mcp_id`, which counts as opened by a client. Raises NotFound."""
        return await self.detail_of(await self.open(mcp_id, client, only_servers=only_servers))

    async def open(self, mcp_id: str, client: str = "", *, only_servers: bool = False) -> Entry:
        """Return the entry `mcp_id`, and count that a client, an account or key, opened it. Raises NotFound."""
        entry = await self.entry(mcp_id)
        if only_servers and entry.kind != SERVER:
            raise _unknown(mcp_id)
        for count in self._opened:
            count(mcp_id, client)
        return entry

    async def entry(self, mcp_id: str) -> Entry:
        """Return the entry `mcp_id`, whose texts are those of its publisher. Raises NotFound."""
        entry = await self.store.entry(mcp_id)
        if entry is None:
            raise _unknown(mcp_id)
        return entry

    async def detail_of(self, entry: Entry) -> Detail:
        """Return the full view of `entry`, with all that features add, without texts that have marks."""
        accepted = self._accepted(entry.mcp_id)
        detail = await self._offload(marked_detail, entry, accepted)
        for additions in self._additions:
            detail = await additions.add_all(detail, accepted)
        detail = self._alone(detail)
        return evolve(detail, trust=trust_text(detail))

    def summary_of(self, entry: Entry) -> Detail:
        """Return the full view of `entry`, with what features add from memory. For threads: it reads all texts."""
        detail = marked_detail(entry, self._accepted(entry.mcp_id))
        for additions in self._additions:
            detail = additions.add_summary(detail)
        detail = self._alone(detail)
        return evolve(detail, trust=trust_text(detail))

    def registry_meta(self, name: str) -> Mapping[str, object]:
        """Return what features add to `_meta` of the latest version of the entry `name`."""
        mcp_id = mcp_id_of(name)
        added = [addition.registry_meta(mcp_id, self.sees) for addition in self._additions]
        return {key: value for members in added for key, value in members.items()}

    async def search_versions(
        self, query: Query, most: int = READ_BYTES, source: Source | None = None, wanted: VersionFilter = LATEST
    ) -> tuple[Sequence[Version], Position | None]:
        """Return the versions that are `wanted` of the hits for `query`, best first, and the position of the next page.

        The page ends after the version that brings the total bytes to `most`.
        """
        query = await self.prepare(query)
        page = await self.search(query, source)
        ids = page.hits.ids()
        versions = await self.store.latest(ids, most, wanted)
        if versions and (len(versions) == wanted.limit or sum(len(stored.body) for stored in versions) >= most):
            count = ids.index(mcp_id_of(versions[-1].name)) + 1
            if count < len(ids):
                page = await self.search(evolve(query, limit=count))
        return versions, page.next

    async def publish(self, source: str, entries: Sequence[Entry], *, new: bool = False) -> Sequence[Outcome]:
        """Store `entries` of `source`; return the outcomes in order. With `new`, stored versions are not replaced.

        New versions are checked by features. Raises BadInput if one rejects them, and Unavailable if the store cannot
        write; see Store.publish for what stays committed.
        """
        for entry in entries if new else ():
            for check in self._checks:
                await self._check(check, entry)
        outcomes = await self._store.publish(source, entries, new=new)
        if "added" in outcomes or "changed" in outcomes:
            self._bus.announce()
        return outcomes

    async def _check(self, check: PublishedCheck, entry: Entry) -> None:
        try:
            await check(entry)
        except BadInput as error:
            if not self._hides_names:
                raise
            raise BadInput("name: a check of this directory rejects it.", code=error.code) from None

    def _alone(self, detail: Detail) -> Detail:
        """Return `detail` without the names of other entries that are out of the scope."""
        notes = [note for note in detail.flag_notes if not note.mcp_id or self.sees(note.mcp_id)]
        return self._shown(detail if len(notes) == len(detail.flag_notes) else evolve(detail, flag_notes=notes))

    def _shown(self, view: V) -> V:
        """Return the view of an entry that ends, without the name of an entry in its place that is out of the scope."""
        ends = view.ends
        if ends is None or not ends.mcp_id or self.sees(ends.mcp_id):
            return view
        return evolve(view, ends=ends.alone())

    def _scoped(self, query: Query) -> Query:
        return query if self._scope is None else evolve(query, scope=self._scope)

    async def _counted(self, query: Query, source: Source | None) -> CachedPage:
        query = await self.prepare(query)
        generation, key = self._index.generation, key_of(query)
        if self._scope is not None:
            key = self._scope, key
        cached = self._pages.get(generation, key)
        if cached is None:
            query = self._scoped(query)
            page = await self._index.search(query)
            if page.hits.size > PAGE_BYTES:
                page = await self._index.search(evolve(query, limit=page.count_within(PAGE_BYTES)))
            cached = self._pages.put(generation, key, page)
        if source and query.after is None and query.keywords:
            self._count(source, query, bool(cached.page.hits.records))
        return cached

    def _count(self, source: Source, query: Query, has_hits: bool) -> None:
        for count in self._searched:
            count(*source, query.keywords, has_hits)


def _unknown(mcp_id: str) -> NotFound:
    return NotFound(f"No entry has the mcp_id {mcp_id}.")

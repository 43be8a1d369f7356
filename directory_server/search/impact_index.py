"""The index in memory: segments in tiers, and immutable snapshots of them."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from attrs import evolve

from ..domain.changes import Change
from ..domain.errors import BadInput, Unavailable
from ..domain.ports.runtime import Offload, Pace
from ..domain.ports.tracing import Trace, untraced
from ..domain.scopes import Scope
from ..domain.search import CLOSE, MAX_NAMED, Page, Position, Query, ToolHit
from ..domain.views import Hit
from ..serialization import decode_hit, hits_of, without_names
from .index.arrays import Doubles, Longs
from .index.checked import document_of
from .index.memory import bound_pages, release_memory
from .index.segment import Segment
from .index.snapshot import BULK, SIZES, LiveSegment, Snapshot, merged
from .index.view import View
from .query.condensing import MAX_LENGTH, parse_long
from .query.cost import are_loaded, is_expensive, is_expensive_plan, load_tables
from .query.parsing import ParsedQuery, parse
from .query.plan import build_plan
from .query.rows import Plan
from .ranking.browsing import close_matches, count_close, recent, sorted_page, summary
from .ranking.nomination import with_nominees
from .ranking.reasons import reasons
from .ranking.scoring import rank
from .ranking.strength import relevance, strength
from .ranking.tools import best_tools, named_tools, ranked_by_tools, searches_tools

T = TypeVar("T")


def _at_once(*, begun: bool = False) -> None:
    """Be the pace of an index without a reactor: no work waits."""


class ImpactIndex:
    """Implement the Index port in memory.

    `apply` runs in a thread, through `offload`; without changes it does the merges that a load has left. `search` reads
    the current snapshot and never waits for `apply`. A search that may take more than about 10 ms runs in a thread,
    through `searches` or else `offload`; `pace` spreads the plans and searches of the others over turns of the reactor.
    Changes go to a new segment, which is merged with others by their `sizes` (see `index.snapshot`). `trace` wraps the
    functions that plan and rank.
    """

    def __init__(
        self,
        offload: Offload,
        sizes: tuple[int, int] = SIZES,
        pace: Pace = _at_once,
        searches: Offload | None = None,
        trace: Trace = untraced,
    ) -> None:
        self._offload = offload
        self._searches = searches or offload
        self._pace = pace
        self._sizes = sizes
        self._plan = trace("plan", build_plan)
        self._rank, self._rank_tools = trace("rank", _page_of), trace("rank", _tools_of)
        self._snapshot = Snapshot()
        self._write_lock = Lock()
        self._journal: list[Change] | None = None
        """The changes since `copy`, if it was called."""

    @property
    def generation(self) -> int:
        return self._snapshot.generation

    @property
    def snapshot(self) -> Snapshot:
        """The present state."""
        return self._snapshot

    def __len__(self) -> int:
        return len(self._snapshot)

    async def apply(self, changes: Sequence[Change]) -> None:
        await self._offload(self._apply, changes)

    def _apply(self, changes: Sequence[Change]) -> None:
        # What `_write` held is free only when it has returned.
        if self._write(changes):
            release_memory()

    def copy(self, snapshot: Snapshot) -> ImpactIndex:
        """Return another index with the state `snapshot`, which `adopt` may make that of this one."""
        with self._write_lock:
            self._journal = []
        other = ImpactIndex(self._offload, self._sizes)
        other._snapshot = snapshot
        return other

    def adopt(self, copy: ImpactIndex, written: Snapshot | None = None) -> None:
        """Take the state of the last `copy`, which has all changes that this index had before, and its later ones.

        The generation is a new one, except for an unchanged copy of `written` where that is the present state.
        """
        with self._write_lock:
            before = self._snapshot
            if self._journal:
                copy._write(self._journal)
            is_equal = before is written and copy.generation == 0
            self._snapshot = evolve(copy._snapshot, generation=before.generation + (not is_equal))
            self._journal = None
        release_memory()

    def forget_copy(self) -> None:
        """Stop keeping the changes for the last `copy`."""
        with self._write_lock:
            self._journal = None

    async def _load_tables(self) -> None:
        """Load the tables of words. Raises Unavailable if their files cannot be opened now."""
        try:
            await self._offload(load_tables)
        except OSError as error:
            raise Unavailable(f"The tables of the search cannot be read now: {error.strerror}.") from error

    def search(self, query: Query) -> Coroutine[Any, Any, Page]:
        return self._result(self._rank, query)

    def hits(self, mcp_ids: Iterable[str]) -> Mapping[str, Hit]:
        return self._snapshot.hits(mcp_ids)

    def has(self, mcp_id: str, scope: Scope) -> bool:
        return self._snapshot.view(scope).doc_of(mcp_id) >= 0

    def search_tools(self, query: Query) -> Coroutine[Any, Any, Sequence[ToolHit]]:
        return self._result(self._rank_tools, query)

    async def _result(self, search: Callable[[Query, Plan, View], T], query: Query) -> T:
        """Return what `search` returns of the plan of `query`."""
        waiting = self._pace()
        if waiting is not None:
            await waiting
        if not are_loaded():
            await self._load_tables()
        view = self._snapshot.view(query.scope, only_servers=query.only_servers)
        parsed = parse(query.keywords) if len(query.keywords) <= MAX_LENGTH else None
        if parsed is None or is_expensive(query, parsed, view):
            return await self._searches(_in_thread, partial(self._plan_and_search, search, query, parsed, view))
        plan = self._plan(parsed, view, query.likeness)
        if is_expensive_plan(plan, view):
            return await self._searches(_in_thread, partial(search, query, plan, view))
        # A plan may take as long as its search.
        waiting = self._pace(begun=True)
        if waiting is not None:
            await waiting
        return search(query, plan, view)

    def _plan_and_search(
        self, search: Callable[[Query, Plan, View], T], query: Query, parsed: ParsedQuery | None, view: View
    ) -> T:
        """Return what `search` returns of the plan of `query`, a long text if it is not parsed yet."""
        for segment in view.segments:
            segment.make_near_words()
        if parsed is not None:
            return search(query, self._plan(parsed, view, query.likeness), view)
        parsed, beside, searched = parse_long(query.keywords, view)
        return search(query, self._plan(parsed, view, query.likeness, beside, searched), view)

    def _write(self, changes: Sequence[Change]) -> bool:
        """Apply `changes` and return whether all segments were merged."""
        # The thread swaps the snapshot: a caller cancelled at its `await` would lose the change.
        with self._write_lock:
            before = self._snapshot
            if self._journal is not None:
                self._journal += changes
            changed = {change.mcp_id: change for change in changes}
            documents = [document for change in changed.values() if (document := document_of(change)) is not None]
            parts = [part.without(list(changed)) for part in before.parts]
            if documents:
                parts.append(LiveSegment.of(Segment.of(documents)))
            merges = merged(parts, self._sizes, is_bulk=len(changes) >= BULK, is_loaded=not changes)
            if not changes and len(merges) == len(parts):
                return False
            pins = {change.mcp_id: change.pinned for change in changes}
            pinned = before.pinned - pins.keys() | {mcp_id for mcp_id, is_pinned in pins.items() if is_pinned}
            merges = [part.with_pins(pinned) for part in merges]
            self._snapshot = Snapshot(merges, before.generation + 1, pinned)
        return len(merges) == 1 and len(parts) > 1


def _in_thread(search: Callable[[], T]) -> T:
    """Search, and remove pages of the index from memory if there are too many. Only large indexes have so many."""
    found = search()
    bound_pages()
    return found


def _page_of(query: Query, plan: Plan, view: View) -> Page:
    """Return the page of a query, in its order and with a summary if it asks for one."""
    if query.browse and not query.keywords.strip():
        plan.filters_only = True
    is_sorted = query.sort != "relevance"
    # The documents that match nearly as well as the best ones are sorted: focus would leave fewer.
    ranking = ranked_by_tools(plan, view) if searches_tools(plan) else rank(plan, view, focuses=not is_sorted)
    value = strength(ranking)
    if value < CLOSE:
        ranking = with_nominees(ranking)
    if is_sorted:
        ranking.complete()
        matched = ranking.docs if plan.filters_only or value < CLOSE else close_matches(ranking)
        matched = recent(view, matched, query)
        if query.sort == "name" and len(matched) > MAX_NAMED:
            raise BadInput(f"The order by name is for at most {MAX_NAMED:,} entries. Add a filter.")
        docs, scores = sorted_page(view, matched, query)
    else:
        matched = ranking.matched
        docs, scores = ranking.page(query.limit + 1, query.after, query.offset)
    page = _page(query, plan, view, docs, scores)
    relevant = () if is_sorted else relevance(ranking, scores[: query.limit], value)
    page = evolve(page, strength=value, relevance=relevant, searched_for=plan.searched_for)
    if not query.browse:
        return page
    close = len(matched) if is_sorted or plan.filters_only else count_close(ranking)
    return evolve(page, summary=summary(ranking, matched, close))


def _page(query: Query, plan: Plan, view: View, docs: Longs, scores: Doubles) -> Page:
    """Return the hits of `docs`, which have one more than the limit if there is a next page."""
    limit = query.limit
    shown = docs[:limit]
    of_hits = partial(reasons, plan, view, shown), partial(named_tools, plan, view, shown)
    records = view.items("hits", shown)
    if query.scope is not None:
        records = without_names(records, lambda mcp_id: view.doc_of(mcp_id) >= 0)
    hits = hits_of(records, *of_hits)
    if len(docs) <= limit:
        return Page(hits)
    return Page(hits, Position(float(scores[limit - 1]), view.name(int(shown[-1]))))


def _tools_of(query: Query, plan: Plan, view: View) -> Sequence[ToolHit]:
    best = best_tools(plan, view, query.limit)
    records = view.items("hits", np.array([doc for doc, _ in best], np.int64))
    return [ToolHit(decode_hit(record), tool) for record, (_, tool) in zip(records, best, strict=True)]

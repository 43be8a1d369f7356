"""The index in memory: segments in tiers, and immutable snapshots of them."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from functools import cache, partial
from threading import Lock
from typing import Any, TypeVar

from attrs import evolve

from ..domain.changes import Change
from ..domain.errors import Unavailable
from ..domain.ports.runtime import Offload, Pace
from ..domain.ports.tracing import Trace, untraced
from ..domain.search import CLOSE, Page, Position, Query, ToolHit
from ..domain.views import Hit
from ..serialization import decode_hit, hits_of
from .index.arrays import Bools, Ints
from .index.collection import Collection
from .index.lexicon import Lexicon
from .index.memory import Keep, bound_pages, in_memory, release_memory
from .index.segment import Segment
from .index.tiers import BULK, SIZES, LiveSegment, Snapshot, merged
from .index.verified import document_of
from .query.cost import MAX_LENGTH, are_loaded, condensed, is_expensive, is_expensive_plan, load_tables
from .query.parsing import ParsedQuery, parse
from .query.plan import Plan, build_plan
from .ranking.browsing import Facets, close_matches, corrected_words, sorted_documents, summary, with_phrases
from .ranking.likeness import reranking
from .ranking.nomination import with_nominees
from .ranking.reasons import reasons
from .ranking.scoring import Best, Ranked, ranked_documents, score_documents, top_documents
from .ranking.strength import KEPT, Closest, closest, kept, relevance
from .ranking.tools import best_tools, named_tools, ranked_by_tools, searches_tools

T = TypeVar("T")


def _at_once(*, begun: bool = False) -> None:
    """Be the pace of an index without a reactor: no work waits."""


class ImpactIndex:
    """Implement the Index port in memory.

    `apply` runs in a thread, through `offload`; without changes it does the merges that a load has left. `search` reads
    the current snapshot and never waits for `apply`. A search that may take more than about 10 ms runs in a thread,
    through `searches` or else `offload`; `pace` spreads the plans and searches of the others over turns of the reactor.
    Changes go to a new segment, which is merged with others by their `sizes` (see `tiers`). `keep` gets the large
    arrays of a large index, and may move them to files. `trace` wraps the functions that plan and rank.
    """

    def __init__(
        self,
        offload: Offload,
        sizes: tuple[int, int] = SIZES,
        pace: Pace = _at_once,
        keep: Keep = in_memory,
        searches: Offload | None = None,
        trace: Trace = untraced,
    ) -> None:
        self._offload = offload
        self._searches = searches or offload
        self._keep = keep
        self._pace = pace
        self._sizes = sizes
        self._plan = trace("plan", build_plan)
        self._browse, self._search = trace("rank", _browse), trace("rank", _search)
        self._search_tools = trace("rank", _search_tools)
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
        found = ImpactIndex(self._offload, self._sizes, keep=self._keep)
        found._snapshot = snapshot
        return found

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
        return self._result(self._browse if query.browse or query.sort != "relevance" else self._search, query)

    def hits(self, mcp_ids: Iterable[str]) -> Mapping[str, Hit]:
        return self._snapshot.hits(mcp_ids)

    def search_tools(self, query: Query) -> Coroutine[Any, Any, Sequence[ToolHit]]:
        return self._result(self._search_tools, query)

    async def _result(self, search: Callable[..., T], query: Query) -> T:
        """Return what `search` returns of the plan of `query`."""
        waiting = self._pace()
        if waiting is not None:
            await waiting
        if not are_loaded():
            await self._load_tables()
        snapshot = self._snapshot
        # The segments to search, and of each the live documents within the scope, and the pinned ones.
        within = snapshot.collection, snapshot.live(query.scope), [part.pinned for part in snapshot.parts]
        collection = snapshot.collection
        parsed = parse(query.keywords) if len(query.keywords) <= MAX_LENGTH else None
        if parsed is None or is_expensive(query, parsed, collection):
            return await self._searches(_in_thread, partial(self._plan_and_search, search, query, parsed, *within))
        plan = self._plan(parsed, collection, query.likeness)
        if is_expensive_plan(plan, collection):
            return await self._searches(_in_thread, partial(search, query, plan, *within))
        # A plan may take as long as its search.
        waiting = self._pace(begun=True)
        if waiting is not None:
            await waiting
        return search(query, plan, *within)

    def _plan_and_search(
        self, search: Callable[..., T], query: Query, parsed: ParsedQuery | None, collection: Collection, *within: Any
    ) -> T:
        """Return what `search` returns of the plan of `query`, which is condensed if it is not parsed yet."""
        parsed = parsed or parse(condensed(query.keywords, collection))
        return search(query, self._plan(parsed, collection, query.likeness), collection, *within)

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
                parts.append(LiveSegment.of(Segment.of(documents, before.vocabulary)))
            is_bulk = len(changes) >= BULK
            merges, vocabulary = merged(parts, before.vocabulary, self._sizes, is_bulk=is_bulk, keep=self._keep)
            if not changes and len(merges) == len(parts) and vocabulary is before.vocabulary:
                return False
            lexicon = before.lexicon
            if vocabulary is not before.vocabulary and merges and lexicon.is_due(len(merges[0].segment)):
                lexicon = Lexicon.learn(merges[0].segment, vocabulary, self._keep)
            pins = {change.mcp_id: change.pinned for change in changes}
            pinned = before.pinned - pins.keys() | {mcp_id for mcp_id, is_pinned in pins.items() if is_pinned}
            merges = [part.with_pins(pinned) for part in merges]
            self._snapshot = Snapshot(vocabulary, merges, lexicon, before.generation + 1, pinned)
        return vocabulary is not before.vocabulary


def _in_thread(search: Callable[[], T]) -> T:
    """Search, and remove pages of the index from memory if there are too many. Only large indexes have so many."""
    found = search()
    bound_pages()
    return found


def _search(query: Query, plan: Plan, collection: Collection, live: Sequence[Bools], pinned: Sequence[Ints]) -> Page:
    best = _by_relevance(plan, collection, live, partial(ranked_documents, plan, collection, live, pinned))
    found = closest(plan, collection.segments, best, query.end + 1, query.after)
    if found.strength < CLOSE and query.after is None and plan.meaning is not None:
        # A claim makes no match closer, so it is still a weak one, which has one page.
        first = with_nominees(plan, plan.meaning, collection, live, found.first)
        found = Closest(first[: query.end], first, found.strength)
    page = _page(plan, collection, found.ranked, query, found.strength)
    return evolve(page, relevance=relevance(found.ranked[query.offset : query.end], found))


def _by_relevance(plan: Plan, collection: Collection, live: Sequence[Bools], best: Best) -> Best:
    """Return `best` with likeness, or by tools if `plan` searches these."""
    if searches_tools(plan, collection):
        return partial(ranked_by_tools, plan, collection, live)
    # Later pages need the first hits as well.
    return reranking(plan, collection.segments, cache(best))


def _search_tools(
    query: Query, plan: Plan, collection: Collection, live: Sequence[Bools], pinned: Sequence[Ints]
) -> Sequence[ToolHit]:
    best = best_tools(plan, collection, live, query.limit)
    records = _records(collection.segments, [ranked for ranked, _ in best])
    return [ToolHit(decode_hit(record), tool) for record, (_, tool) in zip(records, best, strict=True)]


def _browse(query: Query, plan: Plan, collection: Collection, live: Sequence[Bools], pinned: Sequence[Ints]) -> Page:
    """Search in the order of `query`, and with a summary if it asks for one."""
    if query.browse and not query.keywords.strip():
        plan = evolve(plan, filters_only=True, allows_feedback=False)
    if query.sort != "relevance":
        # The documents that match nearly as well as the best ones are sorted: focus would leave fewer.
        plan = evolve(plan, allows_focus=False)
    segments = collection.segments
    matches = score_documents(plan, collection, live, pinned)
    if plan.phrases:
        matches = with_phrases(plan, segments, matches)
    best = _by_relevance(plan, collection, live, partial(top_documents, plan, segments, matches))
    if query.sort == "relevance":
        found = closest(plan, segments, best, query.end + 1, query.after)
        ranked, strength = found.ranked, found.strength
    else:
        strength = 1.0 if plan.filters_only else closest(plan, segments, best, KEPT, None).strength
    if strength < CLOSE:
        matches = kept(segments, best(KEPT, None))
    if query.sort != "relevance":
        matches = matches if plan.filters_only else close_matches(matches)
        ranked = sorted_documents(segments, matches, query)
    page = _page(plan, collection, ranked, query, strength)
    if not query.browse:
        return page
    facets = collection.once(Facets, partial(Facets.of, collection))
    counted = summary(facets, segments, matches)
    return evolve(page, summary=evolve(counted, corrected=corrected_words(plan, collection, live)))


def _page(plan: Plan, collection: Collection, ranked: Sequence[Ranked], query: Query, strength: float) -> Page:
    """Return the hits of `ranked` that `query` asks for. `ranked` has one more if there is a next page."""
    shown, segments = ranked[query.offset : query.end], collection.segments
    of_hits = partial(reasons, plan, segments, shown), partial(named_tools, plan, collection, shown)
    hits = hits_of(_records(segments, shown), *of_hits)
    if len(ranked) <= query.end:
        return Page(hits, strength=strength)
    score, number, doc_id = shown[-1]
    return Page(hits, Position(score, segments[number].rows.name(doc_id)), strength=strength)


def _records(segments: Sequence[Segment], hits: Sequence[Ranked]) -> list[bytes]:
    """Return the records of `hits`."""
    found = {
        of: iter(segments[of].rows.hits.take([doc_id for _, number, doc_id in hits if number == of]))
        for of in {number for _, number, _ in hits}
    }
    return [next(found[number]) for _, number, _ in hits]

"""The index in memory: a large base segment, a small delta segment, and immutable snapshots of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from threading import Lock

import numpy as np
from attrs import evolve, field, frozen

from ..domain.changes import Change
from ..domain.ports.runtime import Offload
from ..domain.search import Page, Position, Query
from .index.collection import Collection
from .index.lexicon import Lexicon
from .index.packing import unpack
from .index.segment import Bools, Segment
from .index.vocabulary import Ints, Vocabulary
from .query.parsing import parse
from .query.plan import build_plan
from .ranking.explain import explain_lines
from .ranking.scoring import score_documents, top_documents
from .text.thesaurus import thesaurus

MAX_UNUSED_TERMS = 50_000
"""Unused terms, beyond as many as there are used ones, from which the vocabulary is rebuilt."""


@frozen(eq=False)
class _LiveSegment:
    """A segment, its live documents, the numbers of its pinned documents, and document numbers by mcp_id."""

    segment: Segment
    live: Bools
    numbers: Mapping[str, int] = field(repr=False)
    pinned: Ints = field(factory=lambda: np.empty(0, np.int32))

    @classmethod
    def of(cls, segment: Segment) -> _LiveSegment:
        """Return `segment` with all documents live."""
        numbers = {row.mcp_id: number for number, row in enumerate(segment.rows)}
        return cls(segment, np.ones(len(segment), bool), numbers)

    def without(self, mcp_ids: Sequence[str]) -> _LiveSegment:
        """Return a copy without these entries."""
        live = self.live.copy()
        live[[self.numbers[mcp_id] for mcp_id in mcp_ids if mcp_id in self.numbers]] = False
        return evolve(self, live=live)

    def with_pins(self, mcp_ids: Set[str]) -> _LiveSegment:
        """Return a copy in which these entries, and no others, are pinned."""
        return evolve(self, pinned=np.array([self.numbers[each] for each in mcp_ids & self.numbers.keys()], np.int32))


@frozen(eq=False)
class _Snapshot:
    """One immutable state of the index. A search uses one snapshot from start to end."""

    vocabulary: Vocabulary
    base: _LiveSegment
    delta: _LiveSegment
    lexicon: Lexicon
    generation: int
    pinned: Set[str] = frozenset()

    def __len__(self) -> int:
        return sum(int(np.count_nonzero(part.live)) for part in (self.base, self.delta))


class ImpactIndex:
    """Implement the Index port in memory.

    `apply` runs in a thread, through `offload`. `search` reads the current snapshot and never waits. Changes go to a
    new delta; the base stays as it is. A delta of `fold` entries, or of half of the base if that is more, is merged
    into the base.
    """

    def __init__(self, offload: Offload, fold: int = 4_000) -> None:
        self._offload = offload
        self._fold = fold
        self._thesaurus = thesaurus()
        vocabulary = Vocabulary()
        empty = _LiveSegment.of(Segment.of([], vocabulary))
        self._snapshot = _Snapshot(vocabulary, empty, empty, Lexicon(), 0)
        self._write_lock = Lock()

    @property
    def generation(self) -> int:
        return self._snapshot.generation

    def __len__(self) -> int:
        return len(self._snapshot)

    async def apply(self, changes: Sequence[Change]) -> None:
        if changes:
            await self._offload(self._write, changes)

    async def search(self, query: Query) -> Page:
        collection, live, pinned = self._collection(self._snapshot)
        plan = build_plan(parse(query.keywords), collection)
        scored = score_documents(plan, collection, live, pinned)
        segments = collection.segments
        ranked = top_documents(plan, segments, scored, query.limit + 1, query.after)
        rows = [segments[number].rows[doc_id] for _, number, doc_id in ranked[: query.limit]]
        last = Position(ranked[query.limit - 1][0], rows[-1].name) if len(ranked) > query.limit else None
        return Page(tuple([row.hit for row in rows]), last)

    def explain(self, query: Query) -> str:
        """Return an explanation of the ranking of the hits for `query`, as text."""
        collection, live, pinned = self._collection(self._snapshot)
        plan = build_plan(parse(query.keywords), collection)
        return "\n".join(explain_lines(plan, collection, live, pinned, query.limit, query.after))

    def _collection(self, snapshot: _Snapshot) -> tuple[Collection, Sequence[Bools], Sequence[Ints]]:
        """Return the segments to search, and the live and the pinned documents of each."""
        parts = [part for part in (snapshot.base, snapshot.delta) if len(part.segment)]
        collection = Collection(
            snapshot.vocabulary, [part.segment for part in parts], snapshot.lexicon, self._thesaurus
        )
        return collection, [part.live for part in parts], [part.pinned for part in parts]

    def _write(self, changes: Sequence[Change]) -> None:
        # The thread swaps the snapshot: a caller cancelled at its `await` would lose the change.
        with self._write_lock:
            before = self._snapshot
            vocabulary = before.vocabulary
            changed = {change.mcp_id: change.analysed for change in changes}
            new = _LiveSegment.of(
                Segment.of([unpack(each) for each in changed.values() if each is not None], vocabulary)
            )
            base, delta = (part.without(list(changed)) for part in (before.base, before.delta))
            lexicon = before.lexicon
            delta = _merge([delta, new], vocabulary)
            if len(delta.segment) >= max(self._fold, len(base.segment) // 2):
                base, vocabulary = _compact(_merge([base, delta], vocabulary), vocabulary)
                delta = _LiveSegment.of(Segment.of([], vocabulary))
                lexicon = Lexicon.learn(base.segment, vocabulary)
            pins = {change.mcp_id: change.pinned for change in changes}
            pinned = before.pinned - pins.keys() | {mcp_id for mcp_id, is_pinned in pins.items() if is_pinned}
            base, delta = base.with_pins(pinned), delta.with_pins(pinned)
            self._snapshot = _Snapshot(vocabulary, base, delta, lexicon, before.generation + 1, pinned)


def _compact(part: _LiveSegment, vocabulary: Vocabulary) -> tuple[_LiveSegment, Vocabulary]:
    """Return `part` and its vocabulary; both renumbered if most terms of the vocabulary are unused."""
    if len(vocabulary.terms) <= MAX_UNUSED_TERMS + 2 * len(np.unique(part.segment.terms)):
        return part, vocabulary
    new = Vocabulary()
    return _LiveSegment.of(part.segment.renumber(vocabulary, new)), new


def _merge(parts: Sequence[_LiveSegment], vocabulary: Vocabulary) -> _LiveSegment:
    return _LiveSegment.of(Segment.merge([(part.segment, part.live) for part in parts], vocabulary))

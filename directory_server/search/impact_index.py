"""The index in memory: a large base, a small delta, and snapshots of both that are swapped whole."""

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
from .query.parsing import read
from .query.plan import plan
from .ranking.explain import explained
from .ranking.scoring import best, scores
from .text.thesaurus import thesaurus

UNUSED = 50_000
"""Terms in no entry that are kept; with more of them than used ones beyond that, the vocabulary is made again."""


@frozen(eq=False)
class _Part:
    """A segment, which of its documents live, which are pinned, and their numbers by mcp_id."""

    segment: Segment
    live: Bools
    numbers: Mapping[str, int] = field(repr=False)
    pinned: Ints = field(factory=lambda: np.empty(0, np.int32))

    @classmethod
    def whole(cls, segment: Segment) -> _Part:
        numbers = {row.mcp_id: number for number, row in enumerate(segment.rows)}
        return cls(segment, np.ones(len(segment), bool), numbers)

    def without(self, mcp_ids: Sequence[str]) -> _Part:
        """Return this part with those entries dead."""
        live = self.live.copy()
        live[[self.numbers[mcp_id] for mcp_id in mcp_ids if mcp_id in self.numbers]] = False
        return evolve(self, live=live)

    def pinning(self, mcp_ids: Set[str]) -> _Part:
        """Return this part with those entries pinned."""
        return evolve(self, pinned=np.array([self.numbers[each] for each in mcp_ids & self.numbers.keys()], np.int32))


@frozen(eq=False)
class _Snapshot:
    """One state of the index. Nothing in it ever changes: a search that begins on it ends on it."""

    vocabulary: Vocabulary
    base: _Part
    delta: _Part
    lexicon: Lexicon
    generation: int
    pinned: Set[str] = frozenset()

    def __len__(self) -> int:
        return sum(int(np.count_nonzero(part.live)) for part in (self.base, self.delta))


class ImpactIndex:
    """Fulfil the Index port in memory.

    `apply` works through `offload`, in a thread. `search` reads the snapshot of the moment where it is called, and
    never waits. A few changes make a new delta and leave the base alone; from `fold` entries on, or half of the base if
    that is more, the delta is folded into the base.
    """

    def __init__(self, offload: Offload, fold: int = 4_000) -> None:
        self._offload = offload
        self._fold = fold
        self._thesaurus = thesaurus()
        vocabulary = Vocabulary()
        nothing = _Part.whole(Segment.of([], vocabulary))
        self._snapshot = _Snapshot(vocabulary, nothing, nothing, Lexicon(), 0)
        self._writing = Lock()

    @property
    def generation(self) -> int:
        return self._snapshot.generation

    def __len__(self) -> int:
        return len(self._snapshot)

    async def apply(self, changes: Sequence[Change]) -> None:
        if changes:
            await self._offload(self._write, changes)

    async def search(self, query: Query) -> Page:
        among, living, pinned = self._among(self._snapshot)
        wanted = plan(read(query.keywords), among)
        totals = scores(wanted, among, living, pinned)
        ranked = best(wanted, list(zip(among.segments, totals, strict=True)), query.limit + 1, query.after)
        shown = ranked[: query.limit]
        last = Position(shown[-1][0], shown[-1][1].name) if len(ranked) > query.limit else None
        return Page(tuple(row.hit for _, row in shown), last)

    def explain(self, query: Query) -> str:
        """Return why the hits for `query` rank where they do, for people to read."""
        among, living, pinned = self._among(self._snapshot)
        wanted = plan(read(query.keywords), among)
        return "\n".join(explained(wanted, among, living, pinned, query.limit, query.after))

    def _among(self, snapshot: _Snapshot) -> tuple[Collection, Sequence[Bools], Sequence[Ints]]:
        """Return what is searched, and which documents of each segment of it live, and which are pinned."""
        parts = [part for part in (snapshot.base, snapshot.delta) if len(part.segment)]
        among = Collection(snapshot.vocabulary, [part.segment for part in parts], snapshot.lexicon, self._thesaurus)
        return among, [part.live for part in parts], [part.pinned for part in parts]

    def _write(self, changes: Sequence[Change]) -> None:
        # The thread makes the swap: left to the caller, one cancelled at its `await` would lose it.
        with self._writing:
            before = self._snapshot
            vocabulary = before.vocabulary
            changed = {change.mcp_id: change.analysed for change in changes}
            new = _Part.whole(Segment.of([unpack(each) for each in changed.values() if each is not None], vocabulary))
            base, delta = (part.without(list(changed)) for part in (before.base, before.delta))
            lexicon = before.lexicon
            delta = _merged([delta, new], vocabulary)
            if len(delta.segment) >= max(self._fold, len(base.segment) // 2):
                base, vocabulary = _compacted(_merged([base, delta], vocabulary), vocabulary)
                delta = _Part.whole(Segment.of([], vocabulary))
                lexicon = Lexicon.learnt(base.segment, vocabulary)
            pins = {change.mcp_id: change.pinned for change in changes}
            pinned = before.pinned - pins.keys() | {mcp_id for mcp_id, is_so in pins.items() if is_so}
            base, delta = base.pinning(pinned), delta.pinning(pinned)
            self._snapshot = _Snapshot(vocabulary, base, delta, lexicon, before.generation + 1, pinned)


def _compacted(part: _Part, vocabulary: Vocabulary) -> tuple[_Part, Vocabulary]:
    """Return `part` and its vocabulary; a new one where most terms of this one are in no entry any more."""
    if len(vocabulary.terms) <= UNUSED + 2 * len(np.unique(part.segment.terms)):
        return part, vocabulary
    new = Vocabulary()
    return _Part.whole(part.segment.renumbered(vocabulary, new)), new


def _merged(parts: Sequence[_Part], vocabulary: Vocabulary) -> _Part:
    return _Part.whole(Segment.merged([(part.segment, part.live) for part in parts], vocabulary))

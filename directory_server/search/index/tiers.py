"""Tiers of segments, and snapshots, which are immutable states of the index.

A change rebuilds the smallest segment, which is merged with the next larger one when it has grown. Segments are ordered
from the oldest, which is the largest, to the newest. O'Neil et al., "The log-structured merge-tree", 1996.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cached_property

import numpy as np
from attrs import evolve, field, frozen

from ...domain.scopes import Scope
from ...domain.views import Hit
from ...serialization import decode_hit
from ..text.thesaurus import thesaurus
from .arrays import Bools, Ints
from .collection import Collection
from .facets import list_terms
from .lexicon import Lexicon
from .memory import Keep, in_memory
from .segment import Segment
from .vocabulary import Vocabulary

SIZES = 64, 1_024
"""Documents of a segment in the smallest tier, and in the next one."""

RATIO, BULK_RATIO = 16, 4
"""A segment beyond those tiers is merged with all newer ones once they have 1 / RATIO of its documents, so that there
are few segments. In a batch of BULK changes, and for a segment of LARGE documents, it is 1 / BULK_RATIO."""

BULK, LARGE = 2_000, 50_000
"""Changes of a batch while the index is loaded; documents of a segment whose merge takes a second."""

MAX_NEW = 500_000
"""Strings that are newer than the table of the vocabulary, from which all segments are merged. They take 200 bytes
each."""

SPILLED = 100_000
"""Documents from which a merge of all segments moves its large arrays to files. They take more than 150 MB."""


@frozen(eq=False)
class LiveSegment:
    """A segment, its live documents and their number, and the numbers of its pinned documents."""

    segment: Segment
    live: Bools
    count: int
    pinned: Ints = field(factory=lambda: np.empty(0, np.int32))

    @classmethod
    def of(cls, segment: Segment) -> LiveSegment:
        """Return `segment` with all documents live."""
        return cls(segment, np.ones(len(segment), bool), len(segment))

    def without(self, mcp_ids: Sequence[str]) -> LiveSegment:
        """Return a segment without these entries."""
        found = (self.segment.rows.find(mcp_id) for mcp_id in mcp_ids)
        numbers = [number for number in found if number is not None]
        if not numbers:
            return self
        live = self.live.copy()
        live[numbers] = False
        return evolve(self, live=live, count=int(np.count_nonzero(live)))

    def hit(self, mcp_id: str) -> Hit | None:
        """Return the hit of an entry, None if it is not live here."""
        number = self.segment.rows.find(mcp_id)
        return None if number is None or not self.live[number] else decode_hit(self.segment.rows.hits.take([number])[0])

    def with_pins(self, mcp_ids: Set[str]) -> LiveSegment:
        """Return a segment in which these entries, and no others, are pinned."""
        found = (self.segment.rows.find(mcp_id) for mcp_id in sorted(mcp_ids))
        pinned = np.array([number for number in found if number is not None], np.int32)
        return self if not len(pinned) and not len(self.pinned) else evolve(self, pinned=pinned)


def merged(
    parts: Sequence[LiveSegment],
    vocabulary: Vocabulary,
    sizes: tuple[int, int] = SIZES,
    *,
    is_bulk: bool = False,
    keep: Keep = in_memory,
) -> tuple[Sequence[LiveSegment], Vocabulary]:
    """Return `parts` after the merges that are due, and their vocabulary.

    The vocabulary is a new one, without unused strings, if all parts were merged. `is_bulk` merges more seldom, for
    batches of many changes. `keep` gets the large arrays of SPILLED documents or more.
    """
    parts = [part for part in parts if part.count]
    first = _first_due([(part.count, len(part.segment)) for part in parts], sizes, is_bulk)
    if parts and (not parts[0].segment.lists.is_whole or vocabulary.new_count >= MAX_NEW):
        first = 0
    if first == len(parts):
        return parts, vocabulary
    due = [(part.segment, part.live) for part in parts[first:]]
    if first == 0:
        is_large = sum(part.count for part in parts) >= SPILLED
        segment, vocabulary = Segment.merge_all(due, vocabulary, keep if is_large else in_memory)
    else:
        segment = Segment.merge(due, vocabulary)
    return [*parts[:first], LiveSegment.of(segment)], vocabulary


def _first_due(counts: Sequence[tuple[int, int]], sizes: tuple[int, int], is_bulk: bool) -> int:
    """Return the place of the first segment to merge with all newer ones, or the number of segments.

    `counts` has the live and all documents of each.
    """
    small, medium = sizes
    first, newer = len(counts), 0
    for place in range(len(counts) - 1, -1, -1):
        live, every = counts[place]
        ratio = RATIO if live < LARGE and not is_bulk else BULK_RATIO
        enough = 0 if live <= small else small if live <= medium else max(medium, live // ratio)
        # A segment of which half was deleted is rewritten.
        if newer > enough or 2 * live < every:
            first = place
        newer += live
    return first


@frozen(eq=False, slots=False)
class Snapshot:
    """One immutable state of the index. A search uses one snapshot from start to end."""

    vocabulary: Vocabulary = field(factory=Vocabulary)
    parts: Sequence[LiveSegment] = ()
    lexicon: Lexicon = field(factory=Lexicon)
    generation: int = 0
    pinned: Set[str] = frozenset()

    @cached_property
    def collection(self) -> Collection:
        """The segments, as they are searched."""
        return Collection(self.vocabulary, [part.segment for part in self.parts], self.lexicon, thesaurus())

    def live(self, scope: Scope) -> Sequence[Bools]:
        """Return for each segment which documents are live and within `scope`. Operators define few scopes."""
        if scope is None:
            return [part.live for part in self.parts]
        return self.collection.once(("live", scope), lambda: self._live_within(scope))

    def _live_within(self, scope: frozenset[str]) -> Sequence[Bools]:
        terms = [term for string in list_terms(scope) if (term := self.collection.find(string)) is not None]
        masks = []
        for part in self.parts:
            mask = np.zeros(len(part.segment), bool)
            for term in terms:
                mask[part.segment.lists.documents_with(term)] = True
            masks.append(mask & part.live)
        return masks

    def hits(self, mcp_ids: Iterable[str]) -> Mapping[str, Hit]:
        """Return the hits of those of the entries `mcp_ids` that are live, by their ids."""
        wanted = list(mcp_ids)
        return {mcp_id: hit for part in self.parts for mcp_id in wanted if (hit := part.hit(mcp_id)) is not None}

    def __len__(self) -> int:
        return sum(part.count for part in self.parts)

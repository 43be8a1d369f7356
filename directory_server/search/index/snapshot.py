"""Snapshots: immutable states of the index.

A change rebuilds the smallest segment, which is merged with the next larger one when it has grown. Segments are ordered
from the oldest, which is the largest, to the newest. O'Neil et al., "The log-structured merge-tree", 1996.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set

import numpy as np
from attrs import define, evolve, field, frozen

from ...domain.scopes import Scope
from ...domain.views import Hit
from ...serialization import decode_hit
from .arrays import Bools, Longs
from .facets import OTHER_KINDS, list_terms
from .segment import Segment
from .view import View

SIZES = 64, 1_024
"""Documents of a segment in the smallest tier, and in the next one."""

RATIO, BULK_RATIO = 16, 4
"""A segment beyond those tiers is merged with all newer ones once they have 1 / RATIO of its documents, so that there
are few segments. In a batch of BULK changes, and for a segment of LARGE documents, it is 1 / BULK_RATIO."""

BULK, LARGE = 2_000, 50_000
"""Changes of a batch while the index is loaded; documents of a segment whose merge takes a second."""


@frozen(eq=False)
class LiveSegment:
    """A segment, its live documents and their number, and the numbers of its pinned documents."""

    segment: Segment
    live: Bools
    count: int
    pinned: Longs = field(factory=lambda: np.empty(0, np.int64))

    @classmethod
    def of(cls, segment: Segment) -> LiveSegment:
        return cls(segment, np.ones(len(segment), bool), len(segment))

    def without(self, mcp_ids: Sequence[str]) -> LiveSegment:
        """Return a segment without these entries."""
        numbers = [number for mcp_id in mcp_ids if (number := self.segment.number_of(mcp_id)) is not None]
        if not numbers:
            return self
        live = self.live.copy()
        live[numbers] = False
        return evolve(self, live=live, count=int(np.count_nonzero(live)))

    def hit(self, mcp_id: str) -> Hit | None:
        """Return the hit of an entry, None if it is not live here."""
        number = self.segment.number_of(mcp_id)
        return None if number is None or not self.live[number] else decode_hit(self.segment.hits[number])

    def with_pins(self, mcp_ids: Set[str]) -> LiveSegment:
        """Return a segment in which these entries, and no others, are pinned."""
        numbers = [number for mcp_id in sorted(mcp_ids) if (number := self.segment.number_of(mcp_id)) is not None]
        return evolve(self, pinned=np.array(numbers, np.int64)) if numbers or len(self.pinned) else self


def merged(
    parts: Sequence[LiveSegment], sizes: tuple[int, int] = SIZES, *, is_bulk: bool, is_loaded: bool = False
) -> Sequence[LiveSegment]:
    """Return `parts` after the merges that are due. `is_bulk` merges more seldom, for batches of many changes.

    `is_loaded` is true at the end of a load. Fewer than LARGE documents become one segment then: a search looks its
    strings up in each.
    """
    parts = [part for part in parts if part.count]
    if is_loaded and len(parts) > 1 and sum(part.count for part in parts) < LARGE:
        first = 0
    else:
        first = _first_due([(part.count, len(part.segment)) for part in parts], sizes, is_bulk)
    if first == len(parts):
        return parts
    return [*parts[:first], LiveSegment.of(Segment.merge([(part.segment, part.live) for part in parts[first:]]))]


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


@define(eq=False)
class Snapshot:
    """One immutable state of the index. A search uses one view of one snapshot from start to end."""

    parts: Sequence[LiveSegment] = ()
    generation: int = 0
    pinned: Set[str] = frozenset()
    _views: dict[tuple[Scope, bool], View] = field(factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return sum(part.count for part in self.parts)

    def view(self, scope: Scope, *, only_servers: bool = False) -> View:
        """Return the view of a scope, or of the servers in it. Operators define few scopes."""
        key = scope, only_servers
        view = self._views.get(key)
        if view is None:
            has_others = only_servers and any(len(_others(part.segment)) for part in self.parts)
            view = self._view(scope, only_servers) if has_others or not only_servers else self.view(scope)
            self._views[key] = view
        return view

    def _view(self, scope: Scope, only_servers: bool) -> View:
        parts = [_within(part, scope, only_servers) for part in self.parts]
        bases = np.cumsum([0, *(len(part.segment) for part in self.parts)]).tolist()
        pinned = [part.pinned + base for part, base in zip(self.parts, bases, strict=False)]
        sizes = [int(np.count_nonzero(live)) for _, live, _ in parts]
        return View(
            segments=[segment for segment, _, _ in parts],
            live=[live for _, live, _ in parts],
            dead=[size < indexed for size, (_, _, indexed) in zip(sizes, parts, strict=True)],
            pinned=np.concatenate([np.empty(0, np.int64), *pinned]),
            size=max(sum(sizes), 1),
        )

    def hits(self, mcp_ids: Iterable[str]) -> Mapping[str, Hit]:
        """Return the hits of those of the entries `mcp_ids` that are live, by their ids."""
        wanted = list(mcp_ids)
        return {mcp_id: hit for part in self.parts for mcp_id in wanted if (hit := part.hit(mcp_id)) is not None}


def _others(segment: Segment) -> Longs:
    """Return the numbers of the documents of a segment that are no servers."""
    return segment.once("others", lambda: np.concatenate([segment.having(term) for term in OTHER_KINDS]))


def _within(part: LiveSegment, scope: Scope, only_servers: bool) -> tuple[Segment, Bools, int]:
    """Return the segment of `part` with the postings of the documents of a scope only, and which of these are live.

    Then follows the number of documents of the scope, live or not. The segment does not depend on what was removed
    later: that needs no new one.
    """
    segment, live = part.segment, part.live
    if only_servers and len(others := _others(segment)):
        # The postings of the others stay, as those of removed documents do: a copy would take as much memory again.
        live = live.copy()
        live[others] = False
    if scope is None:
        return segment, live, len(segment)
    mask = np.zeros(len(segment), bool)
    for term in list_terms(scope):
        mask[segment.having(term)] = True
    return segment.once(("within", scope), lambda: segment.within(mask)), mask & live, int(np.count_nonzero(mask))

"""Rankings: what a plan finds in a view, the best documents first, and pages of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from attrs import define, field

from ...domain.entries import mcp_id_of
from ...domain.search import Position
from ..index.arrays import Doubles, Floats, Longs
from ..index.view import View
from ..query.rows import Plan

PINNED_SCORE = 4_096.0
"""Added to the score of a pinned document that matches: it comes before all others."""

DIGITS = 4
"""Decimal places of a score. Sums of numpy differ in the last bits between processors."""


@define(eq=False)
class Ranking:
    """What a plan finds in a view: the first documents by their scores, and the others by their sums.

    `matrix` has the impact of each row of the plan in each of `candidates`, and `bounds` the first row of each group.
    `matched` are all documents that match. `docs` and `scores` are ordered, `rest` and `rest_sums` are not.
    """

    plan: Plan
    view: View
    matched: Longs
    candidates: Longs
    matrix: Floats
    bounds: Sequence[int]
    docs: Longs
    scores: Doubles
    rest: Longs = field(factory=lambda: np.empty(0, np.int64))
    rest_sums: Doubles = field(factory=lambda: np.empty(0))
    cosines: Doubles = field(factory=lambda: np.empty(0))
    """The likeness of the first documents before the order by likeness, in the order of `docs`; empty if unknown."""
    _is_complete: bool = False

    def columns(self, docs: Longs) -> Longs:
        """Return the columns of the matrix of `docs`, which are candidates."""
        order = self._order
        return order[self.candidates.searchsorted(docs, sorter=order)]

    @cached_property
    def _order(self) -> Longs:
        return self.candidates.argsort(kind="stable")

    def first(self, limit: int) -> Ranking:
        """Return the ranking with its first documents only."""
        kept = np.sort(self.docs[:limit])
        return Ranking(
            self.plan, self.view, kept, self.candidates, self.matrix, self.bounds, self.docs[:limit],
            self.scores[:limit], cosines=self.cosines,
        )  # fmt: skip

    def complete(self) -> None:
        """Order the documents behind the first ones: by their sums, scaled to be below the scores of these."""
        if self._is_complete:
            return
        self._is_complete = True
        if len(self.rest):
            sums = self.rest_scores()
            order = np.lexsort((self.view.column("keys", self.rest), -sums))
            self.docs = np.concatenate([self.docs, self.rest[order]])
            self.scores = np.concatenate([self.scores, sums[order]])

    def rest_scores(self) -> Doubles:
        """Return the sums of the documents behind the first ones, scaled to be below the scores of these."""
        least = float(self.scores.min(initial=1.0))
        scores: Doubles = np.round(self.rest_sums * (0.999 * least / float(self.rest_sums.max(initial=1e-9))), DIGITS)
        return scores

    def page(self, limit: int, after: Position | None, offset: int = 0) -> tuple[Longs, Doubles]:
        """Return the documents and scores of at most `limit` hits after a position and `offset`, equal ones by name."""
        if after is not None or offset + limit > len(self.docs):
            self.complete()
        start, end = 0, offset + limit
        if after is not None:
            after = self._present(after)
            score = after.score
            start = int(np.searchsorted(-self.scores, -score - 0.5 * 10**-DIGITS))
            end += start + int(np.count_nonzero(np.abs(self.scores - score) < 0.5 * 10**-DIGITS))
        # Documents with equal scores belong to the page as far as their names say.
        while 0 < end < len(self.scores) and self.scores[end] == self.scores[end - 1]:
            end += 1
        docs, scores = self._by_name(self.docs[start:end], self.scores[start:end])
        if after is not None:
            is_later = [
                other < score - 0.5 * 10**-DIGITS or self.view.name(doc) > after.name
                for doc, other in zip(docs.tolist(), scores.tolist(), strict=True)
            ]
            docs, scores = docs[is_later], scores[is_later]
        return docs[offset : offset + limit], scores[offset : offset + limit]

    def _present(self, position: Position) -> Position:
        """Return a position by the present score of its entry, which changes of others may have moved."""
        places = np.flatnonzero(self.docs == self.view.doc_of(mcp_id_of(position.name)))
        return Position(float(self.scores[places[0]]), position.name) if len(places) else position

    def _by_name(self, docs: Longs, scores: Doubles) -> tuple[Longs, Doubles]:
        """Return documents in the order of their scores, with equal scores in the order of their names."""
        equal = (scores[1:] == scores[:-1]).nonzero()[0].tolist()
        if not equal:
            return docs, scores
        tied = {*equal, *(place + 1 for place in equal)}
        numbers, values = docs.tolist(), scores.tolist()
        names = {place: self.view.name(numbers[place]) for place in tied}
        order = sorted(range(len(numbers)), key=lambda place: (-values[place], names.get(place, "")))
        return docs[order], scores[order]

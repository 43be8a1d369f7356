"""Needs: what people speak of in words that no server uses, as what servers call it."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
from attrs import frozen

from ..index.collection import Collection
from ..index.segment import Segment
from ..text.thesaurus import Concept
from .parsing import Typed
from .terms import Group, Postings

NEEDED = 0.75
"""What is scored by the entry that fulfils a need best, as a share of what was typed."""

LESS_TELLING = 0.7
"""What a term of a concept is worth, as a share of the one before it."""

MAX_CONCEPTS = 8
"""Concepts that one query may speak of."""


@frozen
class ConceptEvidence:
    """A query of its own: who has more of its terms, and the more telling ones, fulfils it better."""

    typed: str
    terms: Sequence[Group]
    worth: float

    def found(self, segments: Sequence[Segment]) -> list[Postings]:
        """Return for each of `segments` the documents that fulfil the need, and what it scores in each."""
        totals = [np.zeros(len(segment), np.float32) for segment in segments]
        for group in self.terms:
            for total, (holders, scores) in zip(totals, group.found(segments), strict=True):
                total[holders] += scores
        most = max(float(total.max(initial=0)) for total in totals)
        share = np.float32(self.worth / most)
        return [(holders := np.flatnonzero(total > 0).astype(np.int32), total[holders] * share) for total in totals]


def concept_evidence(typed: Typed, among: Collection, worth: float) -> list[ConceptEvidence]:
    """Return the needs that were spoken of; `worth` is what all words are worth that tell no more than they do."""
    meant = {concept.name: _terms(concept, among) for concept in among.thesaurus.meant(typed.words)[:MAX_CONCEPTS]}
    known = {name: terms for name, terms in meant.items() if terms}
    return (
        [ConceptEvidence(f"need of {name}", terms, NEEDED * worth / sqrt(len(known))) for name, terms in known.items()]
        if worth
        else []
    )


def _terms(concept: Concept, among: Collection) -> Sequence[Group]:
    find = among.vocabulary.find
    found = []
    for place, words in enumerate(concept.terms):
        terms = [term for word in words if (term := find(word)) is not None]
        counts = among.frequencies(terms)
        if len(terms) == len(words) and all(counts):
            # Two words together are at least as rare as the rarer one.
            rarity = among.rarity(min(counts)) * LESS_TELLING**place
            found.append(Group(" ".join(words), dict.fromkeys(terms, 1.0), rarity, together=True))
    return found

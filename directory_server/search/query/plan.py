"""How the documents of a collection are scored for what was typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from attrs import frozen

from ..index.collection import Collection
from ..index.segment import Segment
from .concepts import concept_evidence
from .names import begun, called, nearly_called
from .parsing import Typed
from .terms import Group, Postings, groups, relaxed


class Evidence(Protocol):
    """Something that speaks for documents."""

    @property
    def typed(self) -> str:
        """What it was taken from."""

    def found(self, segments: Sequence[Segment]) -> list[Postings]:
        """Return for each of `segments` the documents it speaks for, and what it scores in each."""


@frozen
class Plan:
    """How documents are scored for one query.

    `names` are names that may be what was typed, as far as it goes; `evidence` is all else. `open` tells whether what
    the first hits have in common may stand for what was meant.
    """

    evidence: Sequence[Evidence]
    names: Sequence[Group]
    worth: float
    open: bool
    required: Sequence[int | None]
    excluded: Sequence[int]
    phrases: Sequence[str]
    everything: bool

    @property
    def filters(self) -> bool:
        """Tell whether anything but the score decides what is found."""
        return bool(self.required or self.excluded or self.phrases)


def plan(typed: Typed, among: Collection) -> Plan:
    """Return how to score documents for what was typed."""
    words = groups(typed, among)
    worth = max(sum(group.rarity for group in words), 1.0)
    exact = called(typed, among, worth)
    names = [*begun(typed, among, worth), *([] if exact else nearly_called(typed, among, worth))]
    # Who types a name has said what is needed.
    needed = concept_evidence(typed, among, worth * (1 - (1.0 if exact else _naming(words, among))))
    evidence: list[Evidence] = [*words, *exact, *needed]
    if not evidence and not names:
        evidence += relaxed(typed, among)
    find = among.vocabulary.find
    return Plan(
        evidence,
        names,
        worth,
        # Terms in common are English, and lead away from the few entries in other scripts.
        not exact and not typed.filters and all(word.spaced for word in typed.words),
        [find(term) for term in typed.required],
        [term for word in typed.excluded if (term := find(word)) is not None],
        typed.phrases,
        everything=typed.filters and not typed.words,
    )


def _naming(words: Sequence[Group], among: Collection) -> float:
    terms = [term for group in words for term in group.terms]
    return among.naming(terms, [weight for group in words for weight in group.terms.values()])

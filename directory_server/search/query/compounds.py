"""Compounds: a word of a query that documents write as two ("microsoftteams")."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from ..index.collection import Collection
from ..index.merging import contains
from .stop_words import STOP_WORDS

LENGTHS = range(6, 25)
"""Letters of a word that may be a compound."""

MIN_HALF = 2
"""Letters of the shorter half."""

MIN_HALF_FREQUENCY = 4
"""Documents that must have a half."""

MAX_FREQUENCY = 20
"""Documents with a word, from which it is not a compound of two others."""

MIN_ASSOCIATION = 3.0
"""Minimum number of documents with both halves, relative to the number expected by chance."""

MAX_COMPARED = 3
"""Pairs of halves of which the documents are compared, those with the rarest words."""


@frozen(order=True)
class Compound:
    """The two words of a compound, their terms, and the number of documents that have both."""

    label: str
    terms: tuple[int, int]
    frequency: int


def split(word: str, collection: Collection, frequency: int) -> Compound | None:
    """Return the compound that `word` is, if more documents have both halves than the `frequency` of the word."""
    if frequency >= MAX_FREQUENCY or len(word) not in LENGTHS or not (word.isascii() and word.isalnum()):
        return None
    best: Compound | None = None
    association = MIN_ASSOCIATION
    for most, least, compound in sorted(_halves(word, collection))[:MAX_COMPARED]:
        chance = most * least / collection.size
        both = _in_both(compound.terms, collection)
        if both > frequency and both >= association * chance:
            best, association = Compound(compound.label, compound.terms, both), both / chance
    return best


def _halves(word: str, collection: Collection) -> Iterator[tuple[int, int, Compound]]:
    """Yield the greater and the lesser document frequency of two known words, and these as a compound."""
    find = collection.word
    for length in range(MIN_HALF, len(word) - MIN_HALF + 1):
        halves = word[:length], word[length:]
        if not STOP_WORDS.isdisjoint(halves):
            continue
        # Most halves of names are no words.
        first, of_first = find(halves[0])
        if first is None or of_first < MIN_HALF_FREQUENCY:
            continue
        second, of_second = find(halves[1])
        if second is None or first == second:
            continue
        least, most = sorted((of_first, of_second))
        if least >= MIN_HALF_FREQUENCY:
            yield most, least, Compound(" + ".join(halves), (first, second), 0)


def _in_both(terms: tuple[int, int], collection: Collection) -> int:
    found = 0
    for segment in collection.segments:
        few, many = sorted(map(segment.lists.documents_with, terms), key=len)
        found += int(contains(many, few).sum())
    return found

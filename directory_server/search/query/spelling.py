"""Completion, compounds and spelling correction of words, from the words of a collection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from attrs import frozen
from rapidfuzz.distance import JaroWinkler

from ..index.collection import Collection
from ..index.merging import contains
from .exclusions import STOP_WORDS

MAX_COMPLETIONS = 256
"""Completions of one prefix, the most frequent first."""

COMPLETION_WEIGHT = 0.8
"""The weight of a completion of a word that is not known."""

EDIT_WEIGHTS = {1: 0.8, 2: 0.65}
"""The weight of a correction one or two edits away, before it is lowered by dissimilarity (Jaro-Winkler)."""

REMEMBERED = 64
"""Words whose near words are kept: a search asks more than once for those of a misspelt word."""


def completions(prefix: str, collection: Collection) -> Mapping[int, int]:
    """Return the terms of the words that begin with `prefix`, and the number of documents with each."""
    found: dict[int, int] = {}
    for segment in collection.segments:
        dictionary = segment.dictionary
        span = dictionary.prefix_range(prefix)
        if span.start == span.stop:
            continue
        terms, counts = dictionary.terms[span], dictionary.counts[span]
        if len(counts) > MAX_COMPLETIONS:
            most = np.argpartition(-counts, MAX_COMPLETIONS)[:MAX_COMPLETIONS]
            terms, counts = terms[most], counts[most]
        for term, count in zip(terms.tolist(), counts.tolist(), strict=True):
            if count > 0:
                found[term] = found.get(term, 0) + count
    return found


def corrections(word: str, collection: Collection, frequency: int) -> Mapping[int, float]:
    """Return the weighted terms of words that `word` may misspell and that more than `frequency` documents have."""
    found: dict[int, float] = {}
    for weight, term in _similar(word, collection, frequency).values():
        found[term] = max(weight, found.get(term, 0.0))
    return found


def nearest(word: str, collection: Collection) -> str:
    """Return the word that `word` most likely misspells; an empty text if none is similar."""
    similar = _similar(word, collection, 0)
    return min(similar, key=lambda other: (-similar[other][0], other), default="")


def _similar(word: str, collection: Collection, frequency: int) -> Mapping[str, tuple[float, int]]:
    """Return the words that `word` may misspell and that more than `frequency` documents have: weights and terms."""
    near = collection.cached(_near, REMEMBERED)(word)
    return {other: (weight, term) for other, (weight, term, count) in near.items() if count > frequency}


def _near(collection: Collection, word: str) -> Mapping[str, tuple[float, int, int]]:
    """Return the words near `word`: their weights, terms and numbers of documents."""
    edits = 1 if len(word) < 5 else 2
    near: dict[str, tuple[int, int]] = {}
    counted: dict[str, int] = {}
    for segment in collection.segments:
        dictionary = segment.dictionary
        for place, distance in dictionary.edit_matches(word, edits):
            other = dictionary.strings[place]
            near[other] = distance, int(dictionary.terms[place])
            counted[other] = counted.get(other, 0) + int(dictionary.counts[place])
    if any(distance == 1 and counted[other] > 1 for other, (distance, _) in near.items()):
        near = {other: (distance, term) for other, (distance, term) in near.items() if distance == 1}
    return {
        other: (EDIT_WEIGHTS[distance] * JaroWinkler.similarity(word, other) ** 4, term, counted[other])
        for other, (distance, term) in near.items()
    }


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

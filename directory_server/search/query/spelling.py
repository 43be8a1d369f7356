"""The words of a collection that may be meant by one that is unfinished, misspelt, or unknown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from rapidfuzz.distance import OSA, Indel, JaroWinkler
from rapidfuzz.process import cdist

from ..index.collection import Collection
from ..index.segment import Dictionary

MAX_COMPLETIONS = 256
"""Words that may complete another, those first that most documents hold."""

CORRECTED = {1: 0.8, 2: 0.65}
"""What a word weighs that is one or two edits away, before it is seen how like it looks."""

MAX_ALIKE = 200
"""Words with the same letters that are compared with an unknown one."""

ALIKE = 0.65
"""The share of letters that two words have in common, in order, from which one may be meant by the other."""


def completions(prefix: str, among: Collection) -> Mapping[int, int]:
    """Return the terms of the words that `prefix` begins, and how many documents hold each."""
    found: dict[int, int] = {}
    for segment in among.segments:
        dictionary = segment.dictionary
        span = dictionary.begun(prefix)
        terms, counts = dictionary.terms[span], dictionary.counts[span]
        if len(counts) > MAX_COMPLETIONS:
            most = np.argpartition(-counts, MAX_COMPLETIONS)[:MAX_COMPLETIONS]
            terms, counts = terms[most], counts[most]
        for term, count in zip(terms.tolist(), counts.tolist(), strict=True):
            found[term] = found.get(term, 0) + count
    return found


def corrections(word: str, among: Collection, frequency: int) -> Mapping[int, float]:
    """Return the terms of the words that more than `frequency` documents hold and `word` may misspell, weighed."""
    edits = 1 if len(word) < 5 else 2
    near: dict[str, tuple[int, int]] = {}
    counted: dict[str, int] = {}
    for segment in among.segments:
        dictionary = segment.dictionary
        for place, distance in misspelt(word, edits, dictionary):
            other = dictionary.words[place]
            near[other] = distance, int(dictionary.terms[place])
            counted[other] = counted.get(other, 0) + int(dictionary.counts[place])
    if any(distance == 1 and counted[other] > 1 for other, (distance, _) in near.items()):
        near = {other: (distance, term) for other, (distance, term) in near.items() if distance == 1}
    found: dict[int, float] = {}
    for other, (distance, term) in near.items():
        if counted[other] > frequency:
            weight = CORRECTED[distance] * JaroWinkler.similarity(word, other) ** 4
            found[term] = max(weight, found.get(term, 0.0))
    return found


def misspelt(word: str, edits: int, dictionary: Dictionary, kind: str = "") -> Iterator[tuple[int, int]]:
    """Yield the place and the distance of each word within `edits` of `word` but itself, all beginning with `kind`.

    The distance is that of Damerau and Levenshtein, no part edited twice.
    """
    places = dictionary.like(word, edits, kind)
    others = [dictionary.words[place] for place in places]
    if others:
        distances = cdist([kind + word], others, scorer=OSA.distance, score_cutoff=edits, dtype=np.uint8)[0]
        for number in np.flatnonzero((distances > 0) & (distances <= edits)).tolist():
            yield places[number], int(distances[number])


def alike(word: str, among: Collection) -> Mapping[int, float]:
    """Return the terms of the words that are most like `word`, however far that is from meaning it, weighed."""
    found: dict[int, float] = {}
    for segment in among.segments:
        dictionary = segment.dictionary
        places = dictionary.alike(word, MAX_ALIKE)
        others = [dictionary.words[place] for place in places]
        if others:
            shares = cdist([word], others, scorer=Indel.normalized_similarity, score_cutoff=ALIKE)[0]
            for number in np.flatnonzero(shares >= ALIKE).tolist():
                term, share = int(dictionary.terms[places[number]]), float(shares[number])
                found[term] = max(share, found.get(term, 0.0))
    return found

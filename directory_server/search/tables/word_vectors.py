"""Vectors of words and texts: words of like meaning have like vectors, in all languages of the table.

The table is `data/word_vectors.npz`, which `search_data/word_vectors.py` makes. `data/README.md` has its source and
licence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ..text import Run, is_unspaced, stem
from .files import NOTHING, HashedTexts, Lazy, read_arrays

DIMENSIONS = 128
"""Numbers of a vector."""

LONGEST = 8
"""Characters of the longest word that is looked up in a run of a script without spaces."""

MAX_RUN = 300
"""Characters of such a run that are looked up."""

MAX_WORDS = 128
"""Words of one text that are looked up."""

KEY_BYTES = 32
"""Bytes of the longest word of the table, in UTF-8."""

LEAST_KNOWN = 0.7
"""The least share of known terms of a query that has a vector. Inflected words of other languages are often unknown,
and the rest alone means something else."""

UNKNOWN = bytes(DIMENSIONS)
"""The stored vector of a text without known words."""

_Floats = NDArray[np.float32]


@frozen(eq=False)
class WordVectors:
    """Words, ordered by their bytes in UTF-8, with the weight and the vector of each.

    `center` is the mean of the unit vectors of entries, which have a vector each. `spread` has the variance of each of
    its numbers over all entries.
    """

    words: HashedTexts
    weights: _Floats
    vectors: NDArray[np.int8]
    center: _Floats
    spread: _Floats

    def sum_of(self, counted: Mapping[str, float], least_known: float = 0.0) -> _Floats | None:
        """Return the sum of the vectors of terms, each times its weight and its number.

        None if all terms are unknown, or if a smaller share than `least_known` is known.
        """
        known = [(place, count) for term, count in counted.items() if (place := self.place(term)) != NOTHING]
        if not known or len(known) < least_known * len(counted):
            return None
        places = [place for place, _ in known]
        weights = self.weights[places] * np.array([count for _, count in known], np.float32)
        total: _Floats = weights @ self.vectors[places].astype(np.float32)
        return total

    def place(self, term: str) -> int:
        """Return the place of a term in the table, or NOTHING."""
        return self.words.find(term.encode("utf-8", "replace"))

    def knows(self, terms: Iterable[str]) -> bool:
        """Return whether one of `terms` is in the table."""
        return any(self.place(term) != NOTHING for term in terms)

    def terms_of(self, words: Iterable[Run]) -> list[str]:
        """Return the first MAX_WORDS terms of words, without repetitions."""
        terms: dict[str, None] = {}
        for parts, _ in words:
            terms |= dict.fromkeys(self._split(parts[0][:MAX_RUN]) if is_unspaced(parts[0]) else map(stem, parts))
            if len(terms) >= MAX_WORDS:
                break
        return list(terms)[:MAX_WORDS]

    def _split(self, run: str) -> Iterator[str]:
        """Yield the words of a run without spaces: from left to right, the longest known word that begins there."""
        at = 0
        while at < len(run):
            ends = range(min(at + LONGEST, len(run)), at, -1)
            end = next((end for end in ends if self.place(run[at:end]) != NOTHING), 0)
            if end:
                yield run[at:end]
            at = max(end, at + 1)


def text_vector(counted: Mapping[str, float]) -> bytes:
    """Return the stored vector of a text: its direction from that of a usual entry, scaled to 8 bits.

    `counted` has its terms, and the number of each.
    """
    table = word_vectors()
    total = table.sum_of(counted)
    if total is None:
        return UNKNOWN
    return _stored(total / max(float(np.sqrt(np.square(total).sum())), 1e-9) - table.center)


def query_vector(words: Iterable[Run], weights: Mapping[str, float], least_known: float = LEAST_KNOWN) -> bytes | None:
    """Return the vector of a query, stored like that of a text; None if less than `least_known` of its terms are known.

    Terms count by `weights`, others fully.
    """
    table = word_vectors()
    counted = {term: weight for term in table.terms_of(words) if (weight := weights.get(term, 1.0))}
    total = table.sum_of(counted, least_known)
    return None if total is None else _stored(total)


def _stored(vector: _Floats) -> bytes:
    scaled: NDArray[np.int8] = np.rint(vector * (127 / max(float(np.abs(vector).max()), 1e-9))).astype(np.int8)
    return scaled.tobytes()


def _load() -> WordVectors:
    arrays: dict[str, Any] = dict(read_arrays("word_vectors.npz"))
    return WordVectors(**{**arrays, "words": HashedTexts.of(arrays["words"])})


word_vectors = Lazy(_load)
"""Return the table. It is loaded once, in about 10 ms."""

"""BM25F: the weights of the terms of a field, and the impact of a term in a document.

Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple weighted fields", 2004. The fields of an entry are
weighted and normalised by length, added up, and saturated once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log

from attrs import frozen

from ..text import stem, tokens
from .arrays import Doubles, Floats

K1 = 1.2
"""The weighted frequency at which a term has half of its greatest impact (k1 of BM25)."""

NAME_BONUS = 0.35
"""Added to the impact of a term that stands in the name or title."""


@frozen
class Field:
    """A field of an entry: its weight (boost), mean length in tokens, and length normalisation (b of BM25).

    `is_name` fields hold names, whose camelCase parts are words. `max_characters` of the field are analysed, several
    times as many as any real entry has.
    """

    weight: float
    mean_length: float
    b: float
    max_characters: int
    is_name: bool = False

    def add_weights(self, weights: dict[str, float], text: str) -> Sequence[str]:
        """Add to the `weights` of terms those of the `text` of this field; return its words."""
        words = tokens(text[: self.max_characters], humps=self.is_name)
        unit = self.weight / (1 - self.b + self.b * len(words) / self.mean_length)
        for term, count in Counter(map(stem, words)).items():
            weights[term] = weights.get(term, 0.0) + unit * count
        return words


def impacts(weights: Floats, is_named: Floats) -> Doubles:
    """Return the impacts of terms with these weights; `is_named` is 1 for terms of the name or title, else 0.

    An impact depends on its document alone, so it stays valid when other documents change.
    """
    found: Doubles = weights / (weights + K1) + NAME_BONUS * is_named
    return found


def inverse_document_frequency(frequency: float, size: int) -> float:
    """Return the inverse document frequency of what `frequency` of `size` documents have."""
    frequency = min(frequency, size)
    return log(1 + (size - frequency + 0.5) / (frequency + 0.5))

"""BM25F: the impact of a term in a document, and the inverse document frequency of a term.

Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple weighted fields", 2004. The fields of an entry are
weighted and normalised by length (`Field.term_weight`), added up, and saturated once (`impacts`). A query multiplies an
impact by the term's inverse document frequency.
"""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

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

    def term_weight(self, length: int) -> float:
        """Return the weight of one occurrence of a term in this field, which has `length` tokens."""
        return self.weight / (1 - self.b + self.b * length / self.mean_length)


def impacts(frequencies: NDArray[Any], in_name: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the impacts of terms with these weighted frequencies; `in_name` is true for terms of the name or title.

    An impact depends on its document alone, so it stays valid when other documents change.
    """
    found: NDArray[np.float64] = frequencies / (frequencies + K1) + NAME_BONUS * in_name
    return found


def inverse_document_frequency(frequency: float, size: int) -> float:
    """Return the inverse document frequency of what `frequency` of `size` documents have."""
    frequency = min(frequency, size)
    return log(1 + (size - frequency + 0.5) / (frequency + 0.5))


def inverse_document_frequencies(frequencies: NDArray[np.float64], size: int) -> NDArray[Any]:
    """Return `inverse_document_frequency` of many terms, none of which more than `size` documents have."""
    found: NDArray[Any] = np.log(1 + (size - frequencies + 0.5) / (frequencies + 0.5))
    return found

"""The category of an entry whose publisher names none, from its terms and its vector.

The table is `data/categories.npz`, which `search_data/categories.py` trains. An entry gets none if its best one is too
often wrong.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ...domain.categories import CATEGORIES
from .files import Lazy, read_arrays
from .word_vectors import DIMENSIONS

VECTOR_WEIGHT = 2.0
"""The length of the vector of an entry beside that of its terms, which is 1."""

_Floats = NDArray[np.float32]


@frozen(eq=False)
class WordCategories:
    """A linear classifier: `weights` has a row for each of `words` and each number of a vector, a column per category.

    `least` is the score of a category from which it counts.
    """

    words: Sequence[str]
    weights: NDArray[np.int8]
    biases: _Floats
    least: float
    _places: Mapping[str, int] = field(init=False)

    @_places.default
    def _place_words(self) -> Mapping[str, int]:
        return {word: place for place, word in enumerate(self.words)}

    @classmethod
    def empty(cls, words: Sequence[str]) -> WordCategories:
        """Return a table without weights."""
        size = len(CATEGORIES)
        return cls(words, np.zeros((len(words) + DIMENSIONS, size), np.int8), np.zeros(size, np.float32), 0.0)

    def features(self, terms: Collection[str], vector: bytes) -> _Floats:
        """Return what the classifier reads of an entry: its terms, together of length 1, then its vector."""
        features = np.zeros(len(self.words) + DIMENSIONS, np.float32)
        features[[self._places[term] for term in terms if term in self._places]] = 1
        numbers = np.frombuffer(vector, np.int8).astype(np.float32)
        features[: len(self.words)] /= max(float(np.sqrt(features.sum())), 1.0)
        features[len(self.words) :] = VECTOR_WEIGHT * numbers / max(float(np.sqrt(numbers @ numbers)), 1e-9)
        return features

    def best(self, terms: Collection[str], vector: bytes) -> tuple[str, float]:
        """Return the category of the greatest score, and that."""
        features = self.features(terms, vector)
        places = np.flatnonzero(features)
        scores = features[places] @ self.weights[places].astype(np.float32) + self.biases
        place = int(scores.argmax())
        return CATEGORIES[place], float(scores[place])

    def category(self, terms: Collection[str], vector: bytes) -> str:
        """Return the category of an entry, empty if none is likely enough."""
        category, score = self.best(terms, vector)
        return category if score >= self.least else ""

    def arrays(self) -> Mapping[str, Any]:
        """Return what the file has."""
        words = np.frombuffer("\n".join(self.words).encode(), np.uint8)
        return {"words": words, "weights": self.weights, "biases": self.biases, "least": self.least}


def _load() -> WordCategories:
    arrays: dict[str, Any] = dict(read_arrays("categories.npz"))
    words = arrays["words"].tobytes().decode().split("\n")
    return WordCategories(words, arrays["weights"], arrays["biases"], float(arrays["least"]))


word_categories = Lazy(_load)
"""Return the table. It is loaded once, in about 2 ms."""

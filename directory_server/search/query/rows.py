"""Plans of queries: a flat table of rows, by which documents are scored, explained and measured.

A row is a term, another term that a document must have as well, a weight and a rarity (idf). Rows stand in groups: a
document scores by the best row of a word, by all rows of a concept together, and by the best row of a name. Words,
translations, completions, corrections, compounds, joined words, concepts and names are functions that yield rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from attrs import define, field

from ...domain.search import Likeness
from ..index.arrays import Doubles, Longs
from ..index.view import View
from ..tables.conditions import Condition
from .parsing import ParsedQuery

Row = tuple[str, str, float, float]
"""A term, another one (or the same), the weight of the row, and the idf of both."""

GENERAL, LIGHT, NAMED, BESIDE = 0.5, 0.3, 1.4, 0.8
"""The weights of words on any topic, of words that may state a condition, of words with capitals, and of words of the
text around a request."""

RARE = 5.0
"""The idf from which a word counts more for the share of a query that a document has."""

MIN_KNOWN, KNOWN_OF = 4, 5_000
"""Documents with a word from which it is known, at most, and of how many documents one is enough beside the first."""


@define
class Word:
    """A word of a query. `idf` is its rarity, `weight` what it counts, and `rarity` is above 1 for a rare word.

    `is_corrected` is true for a word that no entry has, `english` are its translations. `native` is the idf of its own
    characters, for words of scripts without spaces.
    """

    text: str
    idf: float
    rows: list[Row]
    weight: float = 1.0
    is_corrected: bool = False
    is_certain: bool = True
    english: Sequence[str] = ()
    native: float = 99.0
    counts_rarity: bool = True
    is_product: bool = False
    is_beside: bool = False

    @property
    def value(self) -> float:
        """What the word adds to the weight of the query."""
        return self.weight * self.idf

    @property
    def rarity(self) -> float:
        """The factor of the word in the share of the query that a document has."""
        return max(self.value / RARE, 1.0) if self.counts_rarity else 1.0


@define
class Concept:
    """A concept of a query: the rows of its terms, and what its best document gets for each word, by its place."""

    name: str
    rows: list[Row]
    shares: Mapping[int, float]


@define
class Plan:
    """A planned query.

    `exact` has the numbers of entries whose name is the query, by the kind of name. `unknown` is the weight of words
    that no entry has. `avoided` are the terms of products whose clients the query does not ask for.
    """

    parsed: ParsedQuery
    words: list[Word] = field(factory=list)
    concepts: list[Concept] = field(factory=list)
    names: list[list[Row]] = field(factory=list)
    conditions: Sequence[Condition] = ()
    avoided: Sequence[str] = ()
    exact: Mapping[str, int] = field(factory=dict)
    vector: bytes | None = None
    likeness: Likeness | None = None
    unknown: float = 0.0
    language: str = ""
    weight: float = 1.0
    filters_only: bool = False
    searched_for: str = ""

    @property
    def is_name(self) -> bool:
        """Return whether the query is the name of an entry or a product."""
        return any(self.exact.values())

    @property
    def groups(self) -> list[list[Row]]:
        """The rows of words, concepts and names, in this order."""
        return [*(word.rows for word in self.words), *(concept.rows for concept in self.concepts), *self.names]

    @property
    def excluded(self) -> Sequence[str]:
        """The terms that no hit has."""
        return self.parsed.excluded


def min_known(view: View) -> int:
    """Return the number of documents with a word from which it is known."""
    return min(MIN_KNOWN, 1 + view.size // KNOWN_OF)


def as_arrays(groups: Sequence[Sequence[Row]]) -> tuple[list[str], Longs, Longs, Doubles, Doubles]:
    """Return the terms of rows, the places of both terms of each row in them, and its full weight and idf."""
    firsts, others, weights, idfs = zip(*(row for group in groups for row in group), strict=True)
    terms = [*dict.fromkeys(firsts + others)]
    place = dict(zip(terms, range(len(terms)), strict=True)).__getitem__
    rarities = np.array(idfs)
    return (
        terms,
        np.array([*map(place, firsts)]),
        np.array([*map(place, others)]),
        np.array(weights) * rarities,
        rarities,
    )

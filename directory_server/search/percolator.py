"""Which queries an entry has all the words of: for those who wait for entries instead of searching."""

from __future__ import annotations

from collections.abc import Collection, Set
from functools import lru_cache

from attrs import frozen

from ..domain.changes import Change
from .index.packing import unpack
from .query.parsing import read
from .text.analysis import stem


@frozen
class _Wanted:
    """What an entry must have, terms and folded text, and what it must not."""

    terms: Set[str]
    phrases: Collection[str]
    excluded: Set[str]

    def __bool__(self) -> bool:
        return bool(self.terms or self.phrases or self.excluded)


def percolate(change: Change, queries: Collection[str]) -> Set[str]:
    """Return those of `queries` that the entry of `change` has all the words of, and whose filters it passes.

    Words are compared by their stems. They must be whole: nothing stands for another word here. A query of nothing
    that can be looked for has no entries.
    """
    if change.analysed is None or not queries:
        return frozenset()
    terms, phrases = _contents(change.analysed)
    return {
        query
        for query in queries
        if (wanted := _wanted(query))
        and wanted.terms <= terms
        and wanted.excluded.isdisjoint(terms)
        and all(phrase in phrases for phrase in wanted.phrases)
    }


def _contents(analysed: bytes) -> tuple[Set[str], str]:
    found = unpack(analysed)
    return {*map(stem, found.words.split()), *found.marks}, found.row.phrases


# The parts of a query have bounds, so this is at most about 20 MB.
@lru_cache(maxsize=4_096)
def _wanted(query: str) -> _Wanted:
    typed = read(query)
    words = (stem(token) for word in typed.words for token in word.tokens)
    return _Wanted(frozenset((*words, *typed.required)), tuple(typed.phrases), frozenset(typed.excluded))

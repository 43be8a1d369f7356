"""Percolation: match one entry against many stored queries."""

from __future__ import annotations

from collections.abc import Collection, Set
from functools import lru_cache

from attrs import frozen

from ..domain.changes import Change
from .index.document import Document
from .index.verified import document_of
from .query.parsing import parse
from .text.analysis import stem


@frozen
class _Requirements:
    """The terms and phrases that an entry must have, and the terms that it must not have."""

    terms: Set[str]
    phrases: Collection[str]
    excluded: Set[str]

    def __bool__(self) -> bool:
        return bool(self.terms or self.phrases or self.excluded)


def percolate(change: Change, queries: Collection[str]) -> Set[str]:
    """Return those of `queries` that the entry of `change` matches: it has all words and satisfies all filters.

    Words are compared by their terms, without completion, correction or expansion. A query without words, phrases,
    filters and exclusions matches no entry.
    """
    document = document_of(change) if queries else None
    if document is None:
        return frozenset()
    terms, phrases = _contents(document)
    return {
        query
        for query in queries
        if (required := _requirements(query))
        and required.terms <= terms
        and required.excluded.isdisjoint(terms)
        and all(phrase in phrases for phrase in required.phrases)
    }


def _contents(document: Document) -> tuple[Set[str], str]:
    return {*map(stem, document.words.split()), *document.special_terms}, document.row.phrases


# The parts of a query have top_starts, so this is at most about 20 MB.
@lru_cache(maxsize=4_096)
def _requirements(query: str) -> _Requirements:
    parsed = parse(query)
    words = (stem(token) for word in parsed.words for token in word.tokens)
    return _Requirements(frozenset((*words, *parsed.required)), tuple(parsed.phrases), frozenset(parsed.excluded))

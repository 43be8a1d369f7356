"""Percolation: match one entry against many stored queries."""

from __future__ import annotations

from collections.abc import Collection, Sequence, Set
from functools import lru_cache

from attrs import evolve, field, frozen

from ..domain.changes import Change
from ..domain.policy import PolicyRules
from ..serialization import restore_entry
from .index.checked import document_of
from .index.packing import TextAnalysis
from .query.parsing import parse
from .text import is_unspaced, pairs, stem


@frozen
class _Requirements:
    """The words, filters and phrases that an entry must have, and the words that it must not have.

    An entry matches a filter if it has one of its special terms.
    """

    words: Set[str]
    filters: Collection[Sequence[str]]
    phrases: Collection[str]
    excluded: Set[str]

    def __bool__(self) -> bool:
        return bool(self.words or self.filters or self.phrases or self.excluded)


def percolate(change: Change, queries: Collection[str]) -> Set[str]:
    """Return those of `queries` that the entry of `change` matches: it has all words and satisfies all filters.

    Words are compared by their terms, without completion, correction or expansion. A query without words, phrases,
    filters and exclusions matches no entry.
    """
    if change.analysed is None or not queries:
        return frozenset()
    # Checks add words. Without them the words alone are read first: most entries do not have those of a query.
    document = None if change.verified is None else document_of(change)
    terms = frozenset(_terms_of(change.analysed) if document is None else document.terms)
    required = {query: _requirements(query) for query in queries}
    having = {query for query, its in required.items() if its and its.words <= terms}
    if not having:
        return having
    document = document or document_of(change)
    assert document is not None, "the change has the analysis of an entry"
    special_terms, phrases = set(document.special_terms), document.row.phrases
    return {
        query
        for query in having
        if not any(special_terms.isdisjoint(filter_terms) for filter_terms in required[query].filters)
        and required[query].excluded.isdisjoint((*terms, *special_terms))
        and all(phrase in phrases for phrase in required[query].phrases)
    }


@frozen
class EntryPolicy:
    """Rules of the operator that hide entries, by the words and filters of searches."""

    rules: PolicyRules
    _analyse: TextAnalysis = field(factory=TextAnalysis)

    @property
    def analysis(self) -> str:
        """The version of the Analysis whose results it reads."""
        return self._analyse.version

    def __call__(self, change: Change) -> str:
        """Return the name of the rule that hides the entry of `change`, empty if none does."""
        if change.body is None:
            return ""
        if change.analysed is None:
            change = evolve(change, analysed=self._analyse(restore_entry(change.body)))
        return self.rules.rule_of(percolate(change, self.rules.queries))


def _terms_of(packed: bytes) -> Sequence[str]:
    """Return the terms of a document without decoding its other parts, see `packing.pack`."""
    return packed.split(b"\n", 2)[1].decode().split()


# The parts of a query are limited in number and length, so this is at most about 20 MB.
@lru_cache(maxsize=4_096)
def _requirements(query: str) -> _Requirements:
    parsed = parse(query)
    words = frozenset(
        stem(token)
        for parts, _ in parsed.whole
        for part in parts
        for token in (pairs(part) if is_unspaced(part) else (part,))
    )
    return _Requirements(words, tuple(parsed.required), tuple(parsed.phrases), frozenset(parsed.excluded))

"""Percolation: match one entry against many stored queries."""

from __future__ import annotations

from collections.abc import Collection, Sequence, Set
from functools import lru_cache

from attrs import evolve, field, frozen

from ..domain.changes import Change
from ..domain.policy import PolicyRules
from ..serialization import restore_entry
from .index.document import Document
from .index.packing import TextAnalysis
from .index.verified import document_of
from .query.parsing import parse
from .text.analysis import stem


@frozen
class _Requirements:
    """The words, filters and phrases that an entry must have, and the words that it must not have.

    An entry matches a filter if it has one of its special terms.
    """

    words: Set[str]
    filters: Collection[Sequence[str]]
    phrases: Collection[str]
    excluded: Set[str]

    def are_met_by(self, document: Document, words: Set[str]) -> bool:
        """Return whether a document with these terms of `words` has all of them. Without any, no document has."""
        terms = set(document.special_terms)
        return (
            bool(self.words or self.filters or self.phrases or self.excluded)
            and self.words <= words
            and self.excluded.isdisjoint(words)
            and not any(terms.isdisjoint(alternatives) for alternatives in self.filters)
            and all(phrase in document.row.phrases for phrase in self.phrases)
        )


def percolate(change: Change, queries: Collection[str]) -> Set[str]:
    """Return those of `queries` that the entry of `change` matches: it has all words and satisfies all filters.

    Words are compared by their terms, without completion, correction or expansion. A query without words, phrases,
    filters and exclusions matches no entry.
    """
    document = document_of(change) if queries else None
    if document is None:
        return frozenset()
    words = frozenset(map(stem, document.words.split()))
    return {query for query in queries if _requirements(query).are_met_by(document, words)}


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


# The parts of a query are limited in number and length, so this is at most about 20 MB.
@lru_cache(maxsize=4_096)
def _requirements(query: str) -> _Requirements:
    parsed = parse(query)
    words = frozenset(stem(token) for word in parsed.words for token in word.tokens)
    return _Requirements(words, tuple(parsed.required), tuple(parsed.phrases), frozenset(parsed.excluded))

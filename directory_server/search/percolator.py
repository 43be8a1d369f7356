"""Percolation: match one entry against many stored queries."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence, Set
from functools import lru_cache

from attrs import define, evolve, field, frozen

from ..domain.changes import Change
from ..domain.policy import PolicyRules
from ..serialization import restore_entry
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

    def __bool__(self) -> bool:
        return bool(self.words or self.filters or self.phrases or self.excluded)


@define(eq=False)
class _Words:
    """The terms of the words of an entry. A word is stemmed only when a term with its first letter is looked for.

    The stemmer never changes the first letter. Most words of an entry have another one than the words of a query.
    """

    _words: Collection[str]
    _stems: dict[str, Set[str]] = field(factory=dict, init=False)

    def __contains__(self, term: str) -> bool:
        letter = term[:1]
        stems = self._stems.get(letter)
        if stems is None:
            stems = self._stems[letter] = {stem(word) for word in self._words if word[0] == letter}
        return term in stems

    def has_all(self, terms: Iterable[str]) -> bool:
        return all(term in self for term in terms)


def percolate(change: Change, queries: Collection[str]) -> Set[str]:
    """Return those of `queries` that the entry of `change` matches: it has all words and satisfies all filters.

    Words are compared by their terms, without completion, correction or expansion. A query without words, phrases,
    filters and exclusions matches no entry.
    """
    if change.analysed is None or not queries:
        return frozenset()
    # Checks add words. Without them the words alone are read first: most entries do not have those of a query.
    document = None if change.verified is None else document_of(change)
    words = _Words((_words_of(change.analysed) if document is None else document.words).split())
    required = {query: _requirements(query) for query in queries}
    found = {query for query, each in required.items() if each and words.has_all(each.words)}
    if not found:
        return found
    document = document or document_of(change)
    assert document is not None, "the change has the analysis of an entry"
    special_terms, phrases = set(document.special_terms), document.row.phrases
    return {
        query
        for query in found
        if not any(special_terms.isdisjoint(terms) for terms in required[query].filters)
        and not any(term in words for term in required[query].excluded)
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


def _words_of(packed: bytes) -> str:
    """Return the words of a document without decoding its other parts, see `packing.pack`."""
    return packed.split(b"\n", 2)[1].decode()


# The parts of a query are limited in number and length, so this is at most about 20 MB.
@lru_cache(maxsize=4_096)
def _requirements(query: str) -> _Requirements:
    parsed = parse(query)
    words = frozenset(stem(token) for word in parsed.words for token in word.tokens)
    return _Requirements(words, tuple(parsed.required), tuple(parsed.phrases), frozenset(parsed.excluded))

"""What a person typed, as a query.

Every word is optional and scores by BM25. The last one may be unfinished, so what it begins is found too. A word that
no entry holds finds those a typing error away. An entry that is called what was typed comes first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import nlargest
from itertools import pairwise
from math import log

from attrs import frozen
from tantivy import Occur, Query, Schema, Searcher

from ._analysis import Word, key, words
from ._document import BARE_NAME, COMMON_PARTS, FULL_NAME, NAMES,ABOUT,MORE, SHORT_NAME, WORDS

MAX_TERMS = 32
"""Terms of one query; what is typed behind them is not searched."""

MAX_KEYWORDS = 2_000
"""Characters of one query; more than MAX_TERMS can fill."""

SAME_NAME = ((FULL_NAME, 1000.0), (SHORT_NAME, 20.0), (BARE_NAME, 10.0))
"""What an entry scores for being called what was typed. A rare word in a name scores about 15."""

BEGINS_NAME = 6.0
"""What it scores if its name begins with all that was typed."""

COMPLETION = 1.0
WEIGHTS=((WORDS,1.0),(MORE,.5))
TIE=.3
"""What a word in this field scores for completing the last one, times the rarity of all that do so together."""

MAX_COMPLETIONS = 256
"""Different words that may complete the last one, in the order of the alphabet."""

CORRECTION = {1: 10.0, 2: 5.0}
"""What a word scores in place of an unknown one, by how many edits apart they are."""

CORRECTED = range(4, 33)
"""Characters of a term that is corrected; two edits from 6 characters up."""

STOP_WORDS = COMMON_PARTS | frozenset(
    "a an and are as at be by can do for from how i in into is it me my of on or that the this to up with you".split()
)
"""Words that tell nothing while others do."""


def build_query(keywords: str, schema: Schema, searcher: Searcher) -> Query | None:
    """Return the query for `keywords`, or None where they hold no word."""
    typed = list(_first_terms(words(keywords[:MAX_KEYWORDS], humps=True)))
    return _any(_Builder(schema, searcher).clauses(typed)) if typed else None


def _first_terms(typed: Iterable[Word]) -> Iterator[Word]:
    left = MAX_TERMS
    for word in typed:
        left -= len(word.terms)
        if left < 0:
            return
        yield word


@frozen
class _Builder:
    schema: Schema
    searcher: Searcher

    def clauses(self, typed: Sequence[Word]) -> Iterator[Query]:
        telling = [word for word in typed if key([word]) not in STOP_WORDS] or typed
        for word in telling:
            yield from self.word(word, unfinished=word is typed[-1])
        for one, other in pairwise(telling):
            if one.spaced and other.spaced:
                yield from self.term(key((one, other)))
        yield from self.names(typed)

    def word(self, word: Word, *, unfinished: bool) -> Iterator[Query]:
        """Match the parts of a word or their joined form, whichever is better, and what it begins."""
        parts = [self.term(term) for term in word.terms]
        joined = self.term(word.joined) if word.joined else []
        longer = self.completions(word) if unfinished else []
        if not joined and not longer:
            parts = [found or self.corrections(term) for term, found in zip(word.terms, parts, strict=True)]
        together = [clause for found in parts for clause in found]
        if joined and together:
            yield Query.disjunction_max_query([*joined, _any(together)])
        else:
            yield from joined or together
        yield from longer

    def term(self, term: str, boost: float = 1.0) -> list[Query]:
        """Match a term where there is one."""
        # Clauses that are bare terms would be added up in an order that depends on how many hits are asked for, and
        # the last bit of a score with it; pages must join without a seam. A boost makes them more than bare.
        matches = [
            Query.boost_query(Query.term_query(self.schema, field, term, "freq"), boost * weight)
            for field, weight in WEIGHTS
            if self.searcher.doc_freq(field, term)
        ]
        return [Query.disjunction_max_query(matches, TIE)] if matches else []

    def completions(self, word: Word) -> list[Query]:
        """Match what the last part of a word begins, or its joined form."""
        found = {
            term: frequency
            for beginning in (word.parts[-1], key([word]))
            if len(beginning) > 1 or not word.spaced
            for term, frequency in self.searcher.terms_with_prefix(WORDS, beginning, limit=MAX_COMPLETIONS)
        }
        rarity = self.rarity(sum(found.values()))
        likely = nlargest(32, found, key=found.__getitem__)
        matches = [m for term in likely for m in self.term(term, COMPLETION * rarity / self.rarity(found[term]))]
        return [Query.disjunction_max_query(matches)] if matches else []

    def corrections(self, term: str) -> list[Query]:
        """Match what a term was probably meant to be."""
        if len(term) not in CORRECTED or not term.isalpha():
            return []
        matches = [
            _scored(Query.fuzzy_term_query(self.schema, field, term, edits), score*w)
            for field, w in ((NAMES,1.0),(ABOUT,.5))
            for edits, score in CORRECTION.items()
            if edits == 1 or len(term) > 5
        ]
        return [Query.disjunction_max_query(matches)]

    def names(self, typed: Sequence[Word]) -> Iterator[Query]:
        """Match entries that are called what was typed, or whose name it begins."""
        whole, bare = key(typed), key(typed, without=COMMON_PARTS)
        for field, name, score in ((FULL_NAME, whole, 1000.0), (SHORT_NAME, whole, 20.0), (BARE_NAME, bare, 10.0)):
            if name and self.searcher.doc_freq(field, name):
                yield _scored(Query.term_query(self.schema, field, name, "freq"), score)
        if False:
            yield self.prefix(SHORT_NAME, whole, BEGINS_NAME)

    def prefix(self, field: str, beginning: str, score: float) -> Query:
        return _scored(Query.regex_query(self.schema, field, f"{beginning}.*"), score)

    def rarity(self, frequency: int) -> float:
        """Return the inverse document frequency of BM25, for several words as if they were one."""
        total = self.searcher.num_docs
        return log(1 + (total - min(frequency, total) + 0.5) / (frequency + 0.5))


def _any(clauses: Iterable[Query]) -> Query:
    return Query.boolean_query([(Occur.Should, clause) for clause in clauses])


def _scored(query: Query, score: float) -> Query:
    return Query.const_score_query(query, score)

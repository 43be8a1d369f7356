"""What a person typed, as a query.

Every word is optional and scores by BM25. The last one may be unfinished, so what it begins is found too. A word that
no entry holds finds those a typing error away. An entry that is called what was typed comes first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import nlargest
from itertools import pairwise
from math import log

from attrs import evolve, frozen
from tantivy import Occur, Query, Schema, Searcher

from ._analysis import Word, key, stem, words
from ._document import BARE_NAME, COMMON_PARTS, FULL_NAME, MORE, NAMES, SHORT_NAME, WORDS

MAX_TERMS = 32
"""Terms of one query; what is typed behind them is not searched."""

MAX_KEYWORDS = 2_000
"""Characters of one query; MAX_TERMS words are shorter."""

WEIGHTS = {WORDS: 1.0, MORE: 0.5}
"""What a term scores in either field; TIE says what the lesser of two adds."""

TIE = 0.3

CALLED_SO = {FULL_NAME: 1000.0, SHORT_NAME: 20.0, BARE_NAME: 10.0}
"""What an entry scores for being called what was typed; a rare word in its name scores about 15."""

BEGINS_SO = 6.0
"""What it scores if its name begins with what was typed."""

COMPLETED = 0.8
"""What a word weighs that the last one begins."""

MAX_COMPLETIONS = 32
"""Words that may complete the last one, those first that most entries hold."""

MAX_CONSIDERED = 1_000
"""Words that these are chosen from, in the order of the dictionary."""

CORRECTED = {1: 10.0, 2: 5.0}
"""What a word of a name scores that is one or two edits away from an unknown term; two from 6 characters up."""

CORRECTABLE = range(4, 33)
"""Characters of a term that may be misspelt."""

STOP_WORDS = COMMON_PARTS.union(
    ("a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "for", "from", "how", "i", "in", "into", "is"),
    ("it", "me", "my", "of", "on", "or", "that", "the", "this", "to", "up", "with", "you"),
)
"""What tells nothing while other words do."""


def build_query(keywords: str, schema: Schema, searcher: Searcher) -> Query | None:
    """Return the query for `keywords`, or None where they hold no word."""
    typed = list(_first_terms(words(keywords[:MAX_KEYWORDS], humps=True)))
    return _any(_Builder(schema, searcher).clauses(typed)) if typed else None


def _first_terms(typed: Iterable[Word]) -> Iterator[Word]:
    left = MAX_TERMS
    for word in typed:
        if len(word.terms) > left:
            yield evolve(word, parts=word.parts[:left] if word.spaced else (word.parts[0][: left + 1],))
            return
        yield word
        left -= len(word.terms)
        if not left:
            return


def _telling(typed: Sequence[Word]) -> Sequence[Word]:
    shorter = [evolve(word, parts=tuple(part for part in word.parts if part not in STOP_WORDS)) for word in typed]
    return [word for word in shorter if word.parts] or typed


@frozen
class _Builder:
    """Builds clauses; each method returns those that can match, in a list that may be empty."""

    schema: Schema
    searcher: Searcher

    def clauses(self, typed: Sequence[Word]) -> Iterator[Query]:
        *finished, last = telling = _telling(typed)
        for word in finished:
            yield from self.word(word)
        yield from self.unfinished(last)
        for one, other in pairwise(telling):
            if one.spaced and other.spaced:
                yield from self.term(stem(key((one, other))))
        yield from self.names(typed)

    def word(self, word: Word) -> list[Query]:
        """Match the parts of a word or their joined form, whichever is better."""
        joined = self.term(word.joined) if word.joined else []
        parts = [clause for term in word.terms for clause in self.term(term) or self.corrections(term)]
        return _best([*joined, *_all_in_one(parts)])

    def unfinished(self, word: Word) -> list[Query]:
        """Match the last word as any, and the longer ones that its last part or its joined form begins."""
        *front, last = word.terms
        parts = [clause for term in front for clause in self.term(term) or self.corrections(term)]
        parts += self.completions(word.parts[-1], last) or self.corrections(last)
        joined = self.completions("".join(word.parts), word.joined) if word.joined else []
        return _best([*joined, *_all_in_one(parts)])

    def term(self, term: str, boost: float = 1.0) -> list[Query]:
        """Match a term by the better of its fields."""
        matches = [
            Query.boost_query(Query.term_query(self.schema, field, term, "freq"), boost * weight)
            for field, weight in WEIGHTS.items()
            if self.searcher.doc_freq(field, term)
        ]
        return _best(matches, TIE)

    def completions(self, beginning: str, term: str) -> list[Query]:
        """Match a term, and what its unstemmed form begins as if all of that were one word, with one rarity."""
        if len(beginning) == 1 and beginning.isascii():
            return self.term(term)
        found = dict(self.searcher.terms_with_prefix(WORDS, beginning, limit=MAX_CONSIDERED))
        for common in COMMON_PARTS - {term}:
            found.pop(common, None)
        shared = self.rarity(sum(found.values()))
        own = self.rarity(found.pop(term, 0))
        likely = nlargest(MAX_COMPLETIONS, found, key=found.__getitem__)
        matches = self.term(term, (own + shared) / 2 / own)
        for longer in likely:
            matches += self.term(longer, COMPLETED * shared / self.rarity(found[longer]))
        return _best(matches)

    def corrections(self, term: str) -> list[Query]:
        """Match the words of names that an unknown term was probably meant to be: the nearest that there are."""
        if len(term) not in CORRECTABLE or not term.isalpha():
            return []
        for edits, score in CORRECTED.items():
            nearby = Query.fuzzy_term_query(self.schema, NAMES, term, edits)
            if len(term) >= 3 * edits and self.searcher.search(nearby, 1, count=False).hits:
                return [Query.const_score_query(nearby, score)]
        return []

    def names(self, typed: Sequence[Word]) -> Iterator[Query]:
        """Match entries that are called what was typed, or whose name it begins."""
        whole, bare = key(typed), key(typed, without=COMMON_PARTS)
        for (field, score), name in zip(CALLED_SO.items(), (whole, whole, bare), strict=True):
            if name and self.searcher.doc_freq(field, name):
                yield Query.const_score_query(Query.term_query(self.schema, field, name, "freq"), score)
        # With one word this is a plain prefix query, the only one of the engine that is cheap to build.
        yield Query.const_score_query(Query.phrase_prefix_query(self.schema, SHORT_NAME, [whole]), BEGINS_SO)

    def rarity(self, frequency: int) -> float:
        """Return the inverse document frequency that BM25 gives a term of this frequency."""
        total = self.searcher.num_docs
        return log(1 + (total - min(frequency, total) + 0.5) / (frequency + 0.5))


def _any(clauses: Iterable[Query]) -> Query:
    return Query.boolean_query([(Occur.Should, clause) for clause in clauses])


def _all_in_one(clauses: Sequence[Query]) -> list[Query]:
    return [_any(clauses)] if clauses else []


def _best(clauses: Sequence[Query], tie: float = 0.0) -> list[Query]:
    return [Query.disjunction_max_query(clauses, tie)] if clauses else []

"""Term groups: the terms that may stand for each word of a query (itself, completions, corrections, translations)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import chain, pairwise

import numpy as np
from attrs import evolve, frozen

from ..index.collection import Collection
from ..index.dictionary import CORRECTABLE_LENGTHS
from ..index.merging import NO_POSTINGS, Postings
from ..index.segment import Segment
from ..text.analysis import stem
from ..text.pinyin import pinyin
from .compounds import MAX_FREQUENCY, Compound, split
from .parsing import ParsedQuery
from .spelling import completions, corrections, similar_words
from .stop_words import FUNCTION_WORDS, STOP_WORDS

MIN_KNOWN = 4
"""Documents with a word, below which it may be a misspelling."""

PREFIX_RATIO = 10
"""The last word is taken as a prefix if this many times as many documents have its completions as have the word."""

COMPLETION_WEIGHT, EXTRA_COMPLETION_WEIGHT = 0.8, 0.35
"""The weight of a completion of the last word: where that is not a known word, and where it is one."""

MAX_CORRECTIONS = 4
"""Words of one query that are corrected."""

MAX_SPLITS = 4
"""Rare words of one query that may be compounds of two others."""

MIN_FOREIGN = 3
"""Words of a query that is taken for another language, and not corrected, if more than half of them are unknown."""

JOINED_WEIGHT = 0.7
"""The weight of two adjacent words written as one."""

TRANSLATION_WEIGHT = 0.5
"""The weight of a translation."""


@frozen
class TermGroup:
    """Alternative terms for one part of the query, each with its weight, and their inverse document frequency.

    A document scores by its best term. With `match_all` it must have all terms, and scores by its worst.
    """

    label: str
    terms: Mapping[int, float]
    idf: float
    match_all: bool = False

    def postings(self, segments: Sequence[Segment]) -> list[Postings]:
        """Return for each of `segments` the matching documents and their scores."""
        return [self._in_segment(segment) for segment in segments]

    def _in_segment(self, segment: Segment) -> Postings:
        if len(self.terms) == 1:
            ((term, weight),) = self.terms.items()
            return segment.lists.scores_of(term, self.idf * weight)
        if segment.lists.lacks_all(self.terms):
            return NO_POSTINGS
        terms = np.fromiter(self.terms, np.int64, len(self.terms))
        weights = np.fromiter(self.terms.values(), np.float64, len(terms)) * self.idf
        merge = segment.lists.least_of if self.match_all else segment.lists.best_of
        return merge(terms, weights)


def word_groups(query: ParsedQuery, collection: Collection, known: Set[str]) -> dict[str, Sequence[TermGroup]]:
    """Return the groups of each different word of `query` that matches a term, by its stem, and of each bigram.

    A word has two groups if documents also write it as two words. Both have the same idf.

    Words with a stem in `known` are not corrected.
    """
    found = chain(_spaced(query, collection, known), _unsegmented(query, collection))
    return {each: groups for each, groups in found if groups}


def compound_groups(query: ParsedQuery, collection: Collection) -> list[TermGroup]:
    """Return the groups of words that are written as one: neighbours, and the pinyin of Chinese words."""
    return [group for group in (*_joined(query, collection), *_pinyin(query, collection)) if group is not None]


def similar_groups(query: ParsedQuery, collection: Collection) -> list[TermGroup]:
    """Return the groups of the words most similar to those of `query`, for when nothing else matches."""
    parts = dict.fromkeys(part for word in query.words if word.spaced for part in word.parts)
    characters = dict.fromkeys(character for word in query.words if not word.spaced for character in word.parts[0])
    found = [_group(part, similar_words(part, collection), collection) for part in [*parts][:MAX_CORRECTIONS]]
    found += [
        _group(each, dict.fromkeys(completions(each, collection), COMPLETION_WEIGHT), collection) for each in characters
    ]
    return [group for group in found if group is not None]


def _spaced(query: ParsedQuery, collection: Collection, known: Set[str]) -> Iterator[tuple[str, list[TermGroup]]]:
    parts = [part for word in query.words if word.spaced for part in word.parts]
    content_words = [part for part in parts if part not in STOP_WORDS]
    if not content_words and all(word.spaced for word in query.words):
        content_words = parts
    last = parts[-1] if parts and query.words[-1].spaced and not query.is_complete else None
    corrected = MAX_CORRECTIONS if _is_foreign(content_words, collection) else 0
    splits = MAX_SPLITS
    for term, part in {stem(part): part for part in content_words}.items():
        weights, frequency, may_be_misspelt = _word_terms(part, collection, unfinished=part == last)
        compound = split(part, collection, frequency) if splits else None
        splits -= frequency < MAX_FREQUENCY
        if compound is None and may_be_misspelt and corrected < MAX_CORRECTIONS and term not in known:
            corrected += 1
            _raise_weights(weights, corrections(part, collection, frequency))
        group = _group(part, weights, collection)
        yield term, _with_compound(group, compound, frequency, collection)


def _with_compound(
    group: TermGroup | None, compound: Compound | None, frequency: int, collection: Collection
) -> list[TermGroup]:
    """Return the groups of a word and of the compound that it is."""
    if compound is None:
        return [] if group is None else [group]
    idf = collection.idf(frequency + compound.frequency)
    halves = TermGroup(compound.label, dict.fromkeys(compound.terms, 1.0), idf, match_all=True)
    return [halves] if group is None else [evolve(group, idf=idf), halves]


def _is_foreign(parts: Sequence[str], collection: Collection) -> bool:
    """Return whether most of `parts` are too rare to be words of the language of the collection."""
    distinct = dict.fromkeys(map(stem, parts))
    found = [term for each in distinct if (term := collection.vocabulary.find(each)) is not None]
    known = sum(count >= MIN_KNOWN for count in collection.document_frequencies(found)) if found else 0
    return len(distinct) >= MIN_FOREIGN and 2 * known < len(distinct)


def _word_terms(part: str, collection: Collection, *, unfinished: bool) -> tuple[dict[int, float], int, bool]:
    """Return the terms of a word and its completions, its document frequency, and whether it may be misspelt."""
    own = collection.vocabulary.find(stem(part))
    frequency = collection.document_frequency(own) if own is not None else 0
    weights: dict[int, float] = {own: 1.0} if own is not None and frequency else {}
    longer = completions(part, collection) if unfinished and len(part) > 1 else {}
    prefixed = sum(longer.values())
    if frequency < MIN_KNOWN or prefixed > PREFIX_RATIO * frequency:
        most = max(longer.values(), default=1)
        _raise_weights(
            weights, {term: COMPLETION_WEIGHT * (0.7 + 0.3 * count / most) for term, count in longer.items()}
        )
    elif len(part) > CORRECTABLE_LENGTHS.start:
        _raise_weights(weights, dict.fromkeys(longer, EXTRA_COMPLETION_WEIGHT))
    is_rare = frequency < MIN_KNOWN and prefixed < MIN_KNOWN
    return weights, frequency, is_rare and len(part) > CORRECTABLE_LENGTHS.start and part.isascii()


def _joined(query: ParsedQuery, collection: Collection) -> Iterator[TermGroup | None]:
    parts = [part for word in query.words if word.spaced for part in word.parts]
    for pair in pairwise(parts):
        if not FUNCTION_WORDS.isdisjoint(pair):
            continue
        weights: dict[int, float] = {}
        _add_terms(weights, collection, {"".join(pair): JOINED_WEIGHT})
        yield _group(" ".join(pair), weights, collection)


def _unsegmented(query: ParsedQuery, collection: Collection) -> Iterator[tuple[str, list[TermGroup]]]:
    for token in dict.fromkeys(token for word in query.words if not word.spaced for token in word.tokens):
        weights: dict[int, float] = {}
        _add_terms(weights, collection, {token: 1.0})
        if len(token) == 1:
            _raise_weights(weights, dict.fromkeys(completions(token, collection), COMPLETION_WEIGHT))
        _add_terms(
            weights,
            collection,
            {term: TRANSLATION_WEIGHT * weight for term, weight in collection.lexicon.translations(token).items()},
        )
        group = _group(token, weights, collection, size=collection.lexicon.size)
        yield token, [] if group is None else [group]


def _pinyin(query: ParsedQuery, collection: Collection) -> Iterator[TermGroup | None]:
    unsegmented = [word for word in query.words if not word.spaced]
    for romanised in dict.fromkeys(name for word in unsegmented for name in _romanised(word.parts[0])):
        weights: dict[int, float] = {}
        _add_terms(weights, collection, {romanised: 1.0})
        yield _group(romanised, weights, collection)


def _romanised(run: str) -> list[str]:
    """Return the pinyin of each part of 2 to 4 characters of a run, without spaces, as names spell it."""
    syllables = pinyin(run)
    spans = [syllables[i : i + n] for n in (2, 3, 4) for i in range(len(syllables) - n + 1)]
    return ["".join(span) for span in spans if all(span)]


def _add_terms(weights: dict[int, float], collection: Collection, words: Mapping[str, float]) -> None:
    found = ((collection.vocabulary.find(stem(word)), weight) for word, weight in words.items())
    _raise_weights(weights, {term: weight for term, weight in found if term is not None})


def _raise_weights(weights: dict[int, float], others: Mapping[int, float]) -> None:
    for term, weight in others.items():
        if weight > weights.get(term, 0.0):
            weights[term] = weight


def _group(
    label: str, weights: Mapping[int, float], collection: Collection, size: int | None = None
) -> TermGroup | None:
    if not weights:
        return None
    counts = collection.document_frequencies(weights)
    present = {term: count for term, count in zip(weights, counts, strict=True) if count}
    if not present:
        return None
    most = max(weights[term] for term in present)
    frequency = sum(weights[term] / most * count for term, count in present.items())
    idf = collection.idf(frequency, size if len(present) == 1 else None)
    return TermGroup(label, {term: weights[term] for term in present}, idf)

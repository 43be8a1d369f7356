"""Rows of words of other languages: their English words, and the words of scripts without spaces."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..index.document import UNSPACED
from ..index.view import View
from ..tables.languages import COUNTRIES, NAMES
from ..tables.lexicon import english_terms, known_forms, lexicon
from ..tables.stop_words import ENGLISH
from ..text import pairs, stem
from .misspelt import completions
from .rows import Row, Word

TRANSLATED, DECAY = 0.9, 0.8
"""The weight of the best translation, and of each further one relative to the one before."""

COUNTRY = 0.5
"""The weight of the country of the language of a query."""

MAX_ENGLISH = 8
"""Translations of a word."""

UNKNOWN_CHARACTER, LONE_CHARACTER = 7.0, 3.0
"""The cost of a character of no known word in a division, and the further cost of a word of one character."""

CUT_LOANWORD = 2.0
"""The further cost of a word that begins or ends inside a run of katakana."""

_KATAKANA = re.compile("[ァ-ヺー]+")
_PARTICLE = re.compile("[ぁ-ん的了吗呢吧]")


def english_of(word: str) -> Sequence[str]:
    """Return the English expressions that the lexicon surely has for a word of an unknown language."""
    known = {**lexicon().find([f"{NAMES} {word}"]), **known_forms(word)}
    sure = (translated.english for translated in known.values() if translated.is_sure)
    return [*dict.fromkeys(expression for english in sure for expression in english)][:4]


def country(language: str, view: View) -> Iterator[Word]:
    """Yield the word for the country of a language: its servers are likelier meant than equal ones of others."""
    terms = [*map(stem, COUNTRIES.get(language, "").split())]
    counts = view.frequencies(terms)
    idf = view.idf(sum(counts))
    rows = [(term, term, 1.0, idf) for term, count in zip(terms, counts, strict=True) if count]
    if rows:
        yield Word(f"({language})", idf, rows, weight=COUNTRY, counts_rarity=False, is_beside=True)


def english_rows(english: Sequence[str], view: View) -> list[Row]:
    """Return rows of English expressions, the best first: of each its rarest term, and its most frequent one."""
    expressions = [*english_terms(english[:MAX_ENGLISH], ENGLISH)]
    terms = [*dict.fromkeys(term for expression in expressions for term in expression)]
    counts = dict(zip(terms, view.frequencies(terms), strict=True))
    rows: list[Row] = []
    for expression in expressions:
        known = [term for term in expression if counts[term]]
        if known:
            rarest, other = min(known, key=counts.__getitem__), max(known, key=counts.__getitem__)
            rows.append((rarest, other, TRANSLATED * DECAY ** len(rows), view.idf(counts[rarest])))
    return rows


def words_of_run(run: str, view: View) -> Iterator[Word]:
    """Yield the words of a run without spaces: the likeliest division by the lexicon, and pairs of characters."""
    if len(run) == 1 and (longer := completions(run, 0, view)):
        yield Word(run, longer[0][3], longer, counts_rarity=False)
        return
    translations = lexicon().words_in(run)
    inside = {at for match in _KATAKANA.finditer(run) for at in range(match.start() + 1, match.end())}
    costs = {
        piece: min(translated.rarity or 4.0, 6.0) + (LONE_CHARACTER if len(piece) == 1 else 0.0)
        for piece, translated in translations.items()
        if len(piece) > 1 or translated.is_sure
    }
    spans = _divide(run, costs, inside)
    covered = {at for start, end in spans for at in range(start, end)}
    beside = (pair for at, pair in enumerate(pairs(run)) if not covered.issuperset(range(at, at + len(pair))))
    distinct = [*dict.fromkeys(beside)]
    left = [pair for pair in distinct if not _PARTICLE.search(pair)] or ([] if spans else distinct)
    size, *counts = view.frequencies([UNSPACED, *left])
    for start, end in spans:
        piece = run[start:end]
        first, *_, last = (*pairs(piece), pairs(piece)[-1])
        rarest = min(view.frequencies([first, last]))
        idf = view.idf(rarest, size) if rarest else 0.0
        native: list[Row] = [(first, last, 1.0, idf)] if rarest else []
        english = translations[piece].english
        translated = english_rows(english, view)
        if native or translated:
            weight = translated[0][3] if translated else idf
            yield Word(piece, weight, [*native, *translated], english=english, native=idf or 99.0, counts_rarity=False)
    for pair, count in zip(left, counts, strict=True):
        if count:
            idf = view.idf(count, size)
            yield Word(pair, idf, [(pair, pair, 1.0, idf)])


def _divide(run: str, costs: dict[str, float], inside: set[int]) -> list[tuple[int, int]]:
    """Return the spans of the words in the likeliest division of `run`: that of the least sum of costs.

    The cost of a word is its rarity, so the sum is that of the most probable words (a unigram model, as usual for the
    segmentation of Chinese). Few words begin or end `inside` a run of katakana.
    """
    longest = max(map(len, costs), default=1)
    best: list[tuple[float, int]] = [(0.0, 0)]
    for end in range(1, len(run) + 1):
        choices = [(best[end - 1][0] + UNKNOWN_CHARACTER, end - 1)]
        for start in range(max(0, end - longest), end):
            cost = costs.get(run[start:end])
            if cost is not None:
                cuts = (start in inside) + (end in inside)
                if not cuts or end - start > 2:
                    choices.append((best[start][0] + cost + CUT_LOANWORD * cuts, start))
        best.append(min(choices))
    spans, end = [], len(run)
    while end:
        start = best[end][1]
        if run[start:end] in costs:
            spans.append((start, end))
        end = start
    return spans[::-1]

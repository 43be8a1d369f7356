"""Rows of words that are unfinished, misspelt, or two words written as one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import log

from rapidfuzz.distance import JaroWinkler

from ..index.view import View
from ..tables.lexicon import lexicon
from ..tables.stop_words import ENGLISH
from ..text import stem
from .rows import Row, min_known

COMPLETED, CONTINUED = 0.8, 0.35
"""The weight of completions of an unknown beginning, and of a known word."""

MAX_COMPLETIONS, MAX_CORRECTIONS = 24, 12
"""Completions of a word, and corrections."""

MIN_TWO_EDITS = 6
"""Letters of the shortest word that may have two edits."""

OTHER_LENGTH = 0.9
"""The factor of a correction for each letter that it has more or less."""

EDITED, MEANT = (0.8, 0.65), 0.85
"""The weight of a correction of one edit, and of two, times a likeness of the words; and that of the likeliest one."""

COMMON, MUCH_LONGER, SHORT = 20, 10, 3
"""Documents with a word that make it a finished one if it has at most SHORT letters, and its completions are less than
MUCH_LONGER times as frequent."""

COMPOUND_LENGTHS = range(8, 25)
"""Letters of a word that may be two words written as one."""


def completions(word: str, frequency: int, view: View) -> list[Row]:
    """Return rows of the words that begin with the last, unfinished word of a query."""
    return view.once(("completions", word), lambda: _completions(word, frequency, view))


def _completions(word: str, frequency: int, view: View) -> list[Row]:
    longer = view.completions(word, MAX_COMPLETIONS)
    longer.pop(stem(word), None)
    total = sum(longer.values()) + frequency
    is_finished = frequency >= COMMON and total <= MUCH_LONGER * frequency and len(word) <= SHORT
    if not longer or is_finished:
        return []
    weight = COMPLETED if frequency < min_known(view) or total > MUCH_LONGER * frequency else CONTINUED
    idf, highest = view.idf(total), max(longer.values())
    return [(term, term, weight * (0.7 + 0.3 * count / highest), idf) for term, count in longer.items()]


def corrections(word: str, frequency: int, view: View) -> list[Row]:
    """Return rows of the words within an edit or two of a rare word, that more entries have."""
    return view.once(("corrections", word), lambda: _corrections(word, frequency, view))


def _corrections(word: str, frequency: int, view: View) -> list[Row]:
    edits_allowed = 1 if len(word) < MIN_TWO_EDITS else 2
    term = stem(word)
    # Most words have a neighbour of one edit, and those of two are not meant then: finding them takes longer.
    close, counts = _more_frequent(view.near(term, 1), frequency, view)
    if not any(counts[term] > 1 for term in close):
        # Of a word with an error in its ending, the stem is another one: English words have theirs.
        near = view.near(term, edits_allowed) or {
            stem(other): edits for other, edits in lexicon().near(word, edits_allowed)
        }
        close, counts = _more_frequent(near, frequency, view)
        if any(edits == 1 and counts[term] > 1 for term, edits in close.items()):
            close = {term: edits for term, edits in close.items() if edits == 1}
    weights = {
        term: EDITED[edits - 1] * JaroWinkler.similarity(word, term) ** 4 * OTHER_LENGTH ** abs(len(word) - len(term))
        for term, edits in close.items()
    }
    weights = {term: weight for term, weight in weights.items() if weight}
    # A frequent word is misspelt more often than a rare one.
    weights = {term: weight * (1 - 1 / (2 + log(counts[term]))) for term, weight in weights.items()}
    best = sorted(weights, key=lambda term: (-weights[term], term))[:MAX_CORRECTIONS]
    # The likeliest correction of a word that no entry has is what was meant.
    scale = MEANT / weights[best[0]] if best and not frequency else 1.0
    # One rarity for all: a rare word would count more for being rare.
    idf = view.idf(sum(counts[term] for term in best))
    return [(term, term, weights[term] * scale, idf) for term in best]


def _more_frequent(near: Mapping[str, int], frequency: int, view: View) -> tuple[dict[str, int], Mapping[str, int]]:
    """Return the edits of those terms of `near` that more than `frequency` entries have, and the numbers of these."""
    counts = dict(zip(near, view.frequencies([*near]), strict=True))
    return {term: edits for term, edits in near.items() if counts[term] > frequency}, counts


def compounds(word: str, frequency: int, view: View) -> list[Row]:
    """Return the row of the two words that a word consists of, if documents have them together; else none."""
    return view.once(("compound", word), lambda: [*_halves(word, frequency, view)])


def _halves(word: str, frequency: int, view: View) -> Iterator[Row]:
    if len(word) not in COMPOUND_LENGTHS:
        return
    halves = [(stem(word[:at]), stem(word[at:])) for at in range(2, len(word) - 1)]
    halves = [pair for pair in halves if ENGLISH.isdisjoint(pair)]
    counts = view.frequencies([half for pair in halves for half in pair])
    least = {place: min(counts[2 * place : 2 * place + 2]) for place in range(len(halves))}
    for place in sorted(least, key=lambda place: -least[place])[:3]:
        few, many = sorted(counts[2 * place : 2 * place + 2])
        both = view.count_with_both(*halves[place]) if few else 0
        if both >= min_known(view) and both > frequency and both >= 3 * many * few / view.size:
            yield *halves[place], 1.0, view.idf(both + frequency)
            return

"""The division of a run of a script without spaces into words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

KATAKANA = re.compile("[ァ-ヺー]+")

UNKNOWN = 7.0
"""The cost of a character of no known word: that of a very rare word."""

MAX_KNOWN = 4.0
"""The cost of a word of the lexicon, unless it is more frequent."""

LOANWORD = 9.0
"""The cost of a run of katakana that no table has as a whole: that of two words, which it may be."""

_PARTICLE = re.compile("(?:을|를|이|가|은|는|의|에|로|와|과|도|만)?$")
"""Korean particles that follow a word of one syllable."""

_ENDING = re.compile("[을를이가은는의에로으와과도만하한할해된되들적시인]")
"""First syllables of what follows a Korean word: particles, and endings of verbs and adjectives."""

Span = tuple[int, int]


def divide(run: str, longest: int, cost: Callable[[str, int], float | None]) -> list[Span]:
    """Return the spans of the words in the likeliest division of `run`: that of the least sum of costs.

    `cost` returns that of the word of at most `longest` characters that begins at a place of the run; None if it is no
    word. The cost of a word is its rarity, so the sum is that of the most probable words (a unigram model, as usual for
    the segmentation of Chinese). A character of no word costs UNKNOWN. A run of katakana may be a loanword in no
    table.
    """
    loans = {match.end(): match.start() for match in KATAKANA.finditer(run)}
    best: list[tuple[float, Span | None]] = [(0.0, None)]
    for end in range(1, len(run) + 1):
        choices: list[tuple[float, Span | None]] = [(best[end - 1][0] + UNKNOWN, None)]
        for start in range(max(0, end - longest), end):
            if (own := cost(run[start:end], start)) is not None:
                choices.append((best[start][0] + own, (start, end)))
        if end in loans:
            choices.append((best[loans[end]][0] + LOANWORD, (loans[end], end)))
        best.append(min(choices, key=lambda choice: choice[0]))
    return [*_path(best)][::-1]


def _path(best: Sequence[tuple[float, Span | None]]) -> Iterator[Span]:
    end = len(best) - 1
    while end:
        span = best[end][1]
        if span:
            yield span
        end = span[0] if span else end - 1


def is_alone(run: str, place: int) -> bool:
    """Return whether one character of a run is a word of its own: no character of its kind is beside it."""
    if "가" <= run[place] <= "힣":
        return place == 0 and _PARTICLE.match(run, 1) is not None
    beside = run[max(place - 1, 0) : place] + run[place + 1 : place + 2]
    return not any("\u3400" <= character <= "\u9fff" for character in beside)


def may_end(run: str, end: int) -> bool:
    """Return whether a word may end at a place of a run: a Korean word ends before a particle or an ending."""
    return end == len(run) or not "가" <= run[end - 1] <= "힣" or _ENDING.match(run, end) is not None

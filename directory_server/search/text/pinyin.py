"""Pinyin of Chinese characters, from the table in data/pinyin.tsv.

Each line of the table has a syllable without tone, and the characters whose most common reading it is, from pypinyin
(MIT licence). The module pypinyin is not used: it takes 9 MB and .3 seconds.
"""

from __future__ import annotations

from array import array
from functools import cache
from importlib.resources import files

_LAST = 0x323AF
"""The last code point with Chinese characters."""


def pinyin(run: str) -> list[str]:
    """Return the syllable of each character, without tones; empty for other characters than Chinese."""
    syllables, numbers = _table()
    return [syllables[numbers[ord(character)]] if ord(character) <= _LAST else "" for character in run]


@cache
def _table() -> tuple[list[str], array[int]]:
    """Return the syllables, and for each code point the number of its syllable; number 0 is empty."""
    text = files("directory_server.search").joinpath("data", "pinyin.tsv").read_text("utf-8")
    syllables, numbers = [""], array("H", bytes(2 * (_LAST + 1)))
    for line in text.splitlines():
        syllable, _, characters = line.partition("\t")
        for character in characters:
            numbers[ord(character)] = len(syllables)
        syllables.append(syllable)
    return syllables, numbers

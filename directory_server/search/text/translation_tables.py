"""The tables of the lexicon: `senses.tsv`, `names.tsv` and `function_words.tsv` of `search/data`.

They were written for this project, by hand, and have its licence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from sys import intern

from .analysis import fold, is_unsegmented, stem
from .dictionary import Dictionary, dictionary
from .tables import Lazy, read_table
from .translations import MIN_SOUNDS, Alternatives, Translations
from .transliteration import NAMES, english_sound_keys
from .word_forms import (
    ALPHABETS,
    LEXICONS,
    MIN_COMMON,
    STEMMERS,
    VIETNAMESE,
    forms_of,
    language_of_script,
    with_accents,
)

ENGLISH = "en"

_WORD = re.compile(r"[^\s,./+'’-]+")

_LATIN = "abcdefghijklmnopqrstuvwxyz0123456789"


def _translations() -> Translations:
    return read_translations(dictionary(), *map(read_table, ("senses.tsv", "names.tsv", "function_words.tsv")))


translations = Lazy(_translations)
"""Return the lexicon of the package. The first call takes about 0.2 seconds."""


def read_translations(dictionary: Dictionary, senses: str, names: str, function_words: str) -> Translations:
    """Return the lexicon of three tables of tab-separated values.

    `senses` has a row of languages, and a row for each sense: English expressions, then those of the other languages.
    Expressions of a cell are separated by commas. `names` has rows of Latin names, and names in other scripts.
    `function_words` has rows of a language and its words, separated by spaces.
    """
    header, *rows = _rows(senses)
    tables = (
        ((row[0], zip(header[1:], row[1:], strict=True)) for row in rows),
        ((latin, [("", others)]) for latin, others in _rows(names)),
    )
    expressions: list[Alternatives] = []
    stems: dict[str, dict[str, tuple[int, ...]]] = {language: {} for language in (*STEMMERS, VIETNAMESE, NAMES)}
    starts: dict[str, set[str]] = {language: set() for language in stems}
    longest = dict.fromkeys(stems, 1)
    runs: dict[str, tuple[int, ...]] = {}
    shared: dict[str, str] = {}
    for english, cells in chain(*tables):
        number = (len(expressions),)
        # One object for each word saves memory: expressions share most words.
        expressions.append([tuple(map(intern, _WORD.findall(expression))) for expression in english.split(",")])
        for language, cell in cells:
            for written in cell.split(",") if cell else ():
                if is_unsegmented(written.lstrip(_LATIN)):
                    _add(runs, "".join(_WORD.findall(written)), number)
                    continue
                parts = _WORD.findall(written)
                its = language_of_script(parts[0]) or (language if language in stems else LEXICONS.get(language, NAMES))
                longest[its] = max(longest[its], len(parts))
                for forms in dict.fromkeys(zip(*(forms_of(its, part) for part in parts), strict=True)):
                    # Languages share many words.
                    form = " ".join(forms) if len(forms) > 1 else forms[0]
                    _add(stems[its], shared.setdefault(form, form), number)
                    if len(forms) > 1:
                        starts[its].add(shared.setdefault(forms[0], forms[0]))
    stops: dict[str, frozenset[str]] = {}
    for language, cell in _rows(function_words):
        its = LEXICONS.get(language, language)
        stops[its] = stops.get(its, frozenset()) | frozenset(_WORD.findall(cell))
    english_words = {word for sense in expressions for expression in sense for word in expression}
    return Translations(
        expressions,
        stems,
        starts,
        longest,
        runs,
        max(map(len, runs), default=0),
        {language: words for language, words in stops.items() if language != ENGLISH},
        frozenset(english_words | stops[ENGLISH] | set(map(stem, english_words))),
        _by_sound(english_words),
        _homographs(senses, stems),
        {language: _in_order(words) for language, words in stems.items()},
        dictionary,
    )


def _in_order(words: Iterable[str]) -> Sequence[str]:
    return sorted(word for word in words if len(word) >= MIN_COMMON and " " not in word)


def _homographs(
    table: str, stems: Mapping[str, Mapping[str, Sequence[int]]]
) -> Mapping[str, Mapping[str, Mapping[str, Sequence[int]]]]:
    """Return the accented words of the table of senses that are equal without accents, by language and folded word."""
    header, *rows = (line.split("\t") for line in with_accents(table).splitlines())
    written: dict[tuple[str, str], dict[str, tuple[int, ...]]] = {}
    for number, row in enumerate(rows):
        for language, cell in zip(header[1:], row[1:], strict=True):
            for word in cell.split(",") if cell and language in ALPHABETS else ():
                folded = " ".join(_WORD.findall(fold(word)))
                if len(stems[language].get(folded, ())) > 1:
                    _add(written.setdefault((language, folded), {}), word, (number,))
    found: dict[str, dict[str, dict[str, tuple[int, ...]]]] = {}
    for (language, folded), words in written.items():
        if len(words) > 1:
            found.setdefault(language, {})[folded] = words
    return found


def _rows(table: str) -> Iterator[list[str]]:
    """Yield the cells of each row of a table, folded. The table is folded at once, which is faster."""
    return (line.split("\t") for line in fold(table).casefold().splitlines())


def _add(words: dict[str, tuple[int, ...]], word: str, number: tuple[int, ...]) -> None:
    known = words.get(word, ())
    words[word] = number if not known else known if number[0] in known else known + number


def _by_sound(english: Iterable[str]) -> Mapping[str, Sequence[str]]:
    found: dict[str, list[str]] = {}
    for word in sorted(english):
        if word.isascii() and word.isalpha():
            for sound in english_sound_keys(word):
                if len(sound) >= MIN_SOUNDS:
                    found.setdefault(sound, []).append(word)
    return found

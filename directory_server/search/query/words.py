"""Rows of the words of a query: the word itself, and what stands for it in documents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ..index.view import View
from ..tables.languages import language_of_run
from ..tables.lexicon import lexicon
from ..tables.stop_words import ENGLISH, GENERAL_WORDS, STOP_WORDS
from ..tables.word_vectors import word_vectors
from ..text import is_unspaced, stem
from .foreign import MAX_ENGLISH, country, english_of, english_rows, words_of_run
from .misspelt import completions, compounds, corrections
from .rows import GENERAL, MIN_KNOWN, Plan, Row, Word, min_known

JOINED = 0.8
"""The weight of two words as one."""

MAX_CORRECTED, MIN_CORRECTED = 4, 4
"""Words of a query that are corrected, and letters of the shortest one."""

MAX_WORDS_OF_NO_LANGUAGE = 3
"""Words of a query of no known language in which one may be of another. A longer one is in English."""

MAX_MISSPELT_OF = 5
"""Words of a query in which a word of the table of vectors that no entry has is misspelt."""

NAMED_SHARE, MIN_PRODUCT = 0.4, 4.5
"""The share of the entries with a word that have it in their names, from which it is that of a product, and its idf."""

FRAGMENT = 0.6
"""The least share of an unknown word that a known beginning or end of it has."""

_DOTTED = re.compile(r"[^\W_]+(?:\.[^\W_]+)+")


class WordRows:
    """Adds the words of a query to a plan. `spaced` are those of scripts with spaces."""

    def __init__(self, view: View, plan: Plan, spaced: Sequence[str]) -> None:
        self._view, self._plan, self._spaced = view, plan, spaced
        self._min_known = min_known(view)
        self._left = MAX_CORRECTED
        # The parts of an address or a name with dots are no words of a language.
        self._names = {part.casefold() for name in _DOTTED.findall(plan.parsed.text) for part in name.split(".")}

    def add(self, words: Sequence[str]) -> None:
        """Add the words of the query, or pieces of them if no entry has any."""
        plan, spaced = self._plan, self._spaced
        functional = lexicon().function_words.get(plan.language, frozenset())
        distinct = dict.fromkeys(spaced)
        content = [word for word in distinct if word not in STOP_WORDS and word not in functional]
        content = content or ([*distinct] if len(spaced) == len(words) else [])
        frequencies = dict(zip(content, self._view.frequencies([*map(stem, content)]), strict=True))
        is_open = bool(content) and not plan.parsed.is_complete and words[-1] == content[-1]
        unknown = sum(frequency < self._min_known for frequency in frequencies.values())
        # Most words of a query in another language are unknown, and not misspelt.
        if plan.language or (len(content) > 8 and 2 * unknown > len(content)):
            self._left = 0
        taken: set[str] = set()
        if plan.language:
            content = self._with_expressions(content, functional)
            frequencies = dict(zip(content, self._view.frequencies([*map(stem, content)]), strict=True))
        for word in content:
            if word not in taken:
                place = spaced.index(word)
                added, size = self._word(word, place, frequencies[word], is_open=is_open and word == content[-1])
                taken.update(spaced[place : place + size])
                if added.rows:
                    plan.words.append(added)
                else:
                    plan.unknown += self._view.idf(0) * (GENERAL if word in GENERAL_WORDS else 1.0)
        if plan.language:
            self._limit_unknown()
        self._join(content)
        for run in words:
            if is_unspaced(run):
                plan.words += words_of_run(run, self._view)
        if not plan.words:
            plan.words += self._fragments(content)
        unspaced = "".join(filter(is_unspaced, words))
        if language := plan.language or (language_of_run(unspaced) if unspaced else ""):
            plan.words += country(language, self._view)

    def _with_expressions(self, content: Sequence[str], functional: frozenset[str]) -> list[str]:
        """Return the content words of a query in another language, and function words that begin an expression."""
        begins = (
            word
            for place, word in enumerate(self._spaced)
            if word in functional and lexicon().translate(self._plan.language, self._spaced, place)[1] > 1
        )
        kept = {*content, *begins}
        return [word for word in dict.fromkeys(self._spaced) if word in kept]

    def _limit_unknown(self) -> None:
        """Let words without a translation weigh no more than the rarest translated word: few of them are names."""
        translated = [word.idf for word in self._plan.words if word.english]
        for word in self._plan.words if translated else ():
            if not word.english and word.idf > max(translated):
                word.weight = max(translated) / word.idf
                word.counts_rarity = False

    def _word(self, word: str, place: int, frequency: int, *, is_open: bool) -> tuple[Word, int]:
        """Return a word of the query with its rows, and the number of words that its translation stands for."""
        view, term = self._view, stem(word)
        own: list[Row] = [(term, term, 1.0, view.idf(frequency))] if frequency else []
        english, size = self._translations(place, frequency)
        if english:
            translated = english_rows(english, self._view)
            idf = translated[0][3] if translated else own[0][3] if own else 0.0
            longer = completions(word, frequency, view) if is_open and not self._plan.language else []
            rows = own + translated + longer
            return Word(word, idf, rows, english=english[:MAX_ENGLISH], counts_rarity=False), size
        rows = own
        if is_open and (len(word) > 2 or (len(word) == 2 and not self._plan.language and len(self._spaced) < 3)):
            rows = own + completions(word, frequency, view)
        is_corrected = False
        if frequency < self._min_known and self._may_be_wrong(word, frequency):
            compound = compounds(word, frequency, view)
            rows = rows + compound
            is_begun = sum(view.frequencies([row[0] for row in rows[len(own) :]])) >= self._min_known
            if not compound and self._left and not is_begun:
                near = corrections(word, frequency, view)
                self._left -= 1
                rows = rows + near
                is_corrected = bool(near) and not frequency
        idf = own[0][3] if own else max((row[3] for row in rows), default=0.0)
        is_product = bool(own) and own[0][3] >= MIN_PRODUCT and view.name_share(term) >= NAMED_SHARE
        is_certain = not (is_corrected and word_vectors().knows([term]))
        return Word(
            word, idf, rows, is_corrected=is_corrected, is_certain=is_certain, counts_rarity=not is_corrected,
            is_product=is_product,
        ), 1  # fmt: skip

    def _may_be_wrong(self, word: str, frequency: int) -> bool:
        """Return whether a rare word may be misspelt, or two words."""
        if len(word) < MIN_CORRECTED or not (word.isascii() and word.isalnum()) or word.isdigit():
            return False
        if word in GENERAL_WORDS:
            return False
        # A sentence has rare words that no entry has.
        is_sentence = len(self._spaced) > MAX_MISSPELT_OF
        return not ((frequency or is_sentence) and word_vectors().knows([stem(word)]))

    def _join(self, content: Sequence[str]) -> None:
        """Add two neighbours written as one word to the rows of both, also names of a conversion ("pdf2html")."""
        joined = [(one, other, stem(one + other)) for one, other in pairwise(content)]
        for one, to, other in zip(self._spaced, self._spaced[1:], self._spaced[2:], strict=False):
            if to == "to":
                joined += [(one, other, f"{one}to{other}"), (one, other, f"{one}2{other}")]
        by_text = {word.text: word for word in self._plan.words}
        counts = self._view.frequencies([term for _, _, term in joined])
        for (one, other, term), count in zip(joined, counts, strict=True):
            row_of = (term, term, JOINED)
            if not count:
                continue
            for word in filter(None, (by_text.get(one), by_text.get(other))):
                word.rows = [*word.rows, (*row_of, word.idf)]
            if one not in by_text and other not in by_text:
                idf = self._view.idf(count)
                self._plan.words.append(Word(one + other, idf, [(*row_of, idf)]))
                self._plan.unknown = max(self._plan.unknown - 2 * self._view.idf(0), 0.0)

    def _fragments(self, content: Sequence[str]) -> Iterator[Word]:
        """Yield the longest known beginning or end of each unknown word."""
        for word in content[:MAX_CORRECTED]:
            sizes = range(len(word) - 1, max(4, int(FRAGMENT * len(word)) - 1), -1)
            pieces = [stem(piece) for size in sizes for piece in (word[:size], word[-size:])]
            counts = self._view.frequencies(pieces)
            known = next((place for place, count in enumerate(counts) if count), None)
            if known is not None:
                term, idf = pieces[known], self._view.idf(counts[known])
                self._plan.unknown = max(self._plan.unknown - self._view.idf(0), 0.0)
                yield Word(word, idf, [(term, term, min(len(term) / len(word), 1.0), idf)])

    def _translations(self, place: int, frequency: int) -> tuple[Sequence[str], int]:
        """Return English expressions for the expression of another language at a place, and its number of words."""
        language, word = self._plan.language, self._spaced[place]
        if word in self._names:
            return (), 1
        if language:
            translated, size = lexicon().translate(language, self._spaced, place)
            return (translated.english if translated else ()), size
        if (
            len(self._spaced) > MAX_WORDS_OF_NO_LANGUAGE
            or frequency >= MIN_KNOWN
            or len(word) < MIN_CORRECTED
            or not word.isalpha()
            or word in ENGLISH
            or lexicon().is_english(word)
        ):
            return (), 1
        if len(self._spaced) == 1 and self._is_misspelt(word, frequency):
            return (), 1
        return self._view.once(("english", word), lambda: english_of(word)), 1

    def _is_misspelt(self, word: str, frequency: int) -> bool:
        """Return whether a single word, which tells no language, is near a frequent one."""
        rows = corrections(word, frequency, self._view)
        counts = self._view.frequencies([row[0] for row in rows])
        return any(row[2] >= 0.5 and count >= 10 for row, count in zip(rows, counts, strict=True))

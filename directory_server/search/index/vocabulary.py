"""The vocabulary: numbers of strings (words, their terms, special terms), shared by all segments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count

import numpy as np

from ..text.analysis import stem
from .arrays import Bools, Ints, Longs
from .memory import Keep, in_memory
from .strings import BATCH, StringTable

UNUSED = -1
"""The number of a string that a new vocabulary has not, and the term of a string that is not a word."""


class Vocabulary:
    """Numbers of strings, and the term of each word.

    A string of the sorted `table` has its place there as number, and its term in `term_of`. `new` strings, with their
    `new_terms`, are numbered after those, in a dict. The vocabulary only grows, until the index replaces it. `table`
    and `term_of` are never changed, so they may be mapped from a file.
    """

    def __init__(
        self,
        table: StringTable | None = None,
        term_of: Ints | None = None,
        new: Sequence[str] = (),
        new_terms: Ints | None = None,
    ) -> None:
        self.table = StringTable.of([]) if table is None else table
        self._known = len(self.table)
        self._term_of: Ints = np.full(self._known, UNUSED, np.int32) if term_of is None else term_of
        self._late_terms: dict[int, int] = {}
        """Terms of strings of the table that became words after it was made."""
        self._new_strings = list(new)
        self._new = dict(zip(self._new_strings, count(self._known), strict=False))
        self._new_terms: Ints = np.empty(0, np.int32) if new_terms is None else new_terms.copy()

    def __len__(self) -> int:
        return self._known + len(self._new_strings)

    def find(self, string: str) -> int | None:
        """Return the number of a string, or None."""
        number = self._new.get(string)
        return self.table.find(string) if number is None else number

    def string(self, number: int) -> str:
        """Return the string with a number."""
        known = self._known
        return self.table[number] if number < known else self._new_strings[number - known]

    def strings(self, numbers: Sequence[int]) -> list[str]:
        """Return the strings with these numbers."""
        known, new = self._known, self._new_strings
        read = self.table.__getitem__
        return [read(number) if number < known else new[number - known] for number in numbers]

    def number(self, strings: Iterable[str]) -> Longs:
        """Return the numbers of strings. New strings are added."""
        every = strings if isinstance(strings, list) else list(strings)
        numbers = dict.fromkeys(every, UNUSED)
        known, new, added = self._known, self._new, self._new_strings
        for string in numbers:
            numbers[string] = new.get(string, UNUSED)
        others = [string for string, number in numbers.items() if number == UNUSED]
        for string, number in zip(others, self.table.find_all(others).tolist(), strict=True):
            if number < 0:
                number = known + len(added)
                added.append(string)
                new[string] = number
            numbers[string] = number
        if len(self._new_terms) < len(added):
            # Doubled, so that a change does not copy them.
            more = np.full(max(2 * len(added), 256) - len(self._new_terms), UNUSED, np.int32)
            self._new_terms = np.concatenate([self._new_terms, more])
        return np.fromiter(map(numbers.__getitem__, every), np.int64, len(every))

    def number_words(self, words: Iterable[str]) -> Longs:
        """Return the numbers of words. New words and their terms are added."""
        numbers = self.number(words)
        words = np.unique(numbers[self.terms_of(numbers) == UNUSED])
        terms = self.number(map(stem, self.strings(words.tolist())))
        late = words < self._known
        self._late_terms.update(zip(words[late].tolist(), terms[late].tolist(), strict=True))
        self._new_terms[words[~late] - self._known] = terms[~late]
        return numbers

    def terms_of(self, words: Longs | Ints) -> Ints:
        """Return the term numbers of `words`, given by number; UNUSED for strings that are not words."""
        is_new = words >= self._known
        found = np.empty(len(words), np.int32)
        found[~is_new] = self._term_of[words[~is_new]]
        found[is_new] = self._new_terms[words[is_new] - self._known]
        if self._late_terms:
            for place in np.flatnonzero(found == UNUSED).tolist():
                found[place] = self._late_terms.get(int(words[place]), UNUSED)
        return found

    def table_terms(self) -> Ints:
        """Return the terms of the strings of the table."""
        if not self._late_terms:
            return self._term_of
        found = self._term_of.copy()
        found[list(self._late_terms)] = list(self._late_terms.values())
        return found

    @property
    def new_count(self) -> int:
        """The number of strings that are not in the table."""
        return len(self._new_strings)

    def new_strings(self) -> tuple[list[str], Ints]:
        """Return the strings that are not in the table, and their terms. Others may be added meanwhile."""
        strings = self._new_strings.copy()
        return strings, self._new_terms[: len(strings)]

    def are_ascii(self) -> Bools:
        """Return for each string whether it has ASCII characters only."""
        new = np.fromiter(map(str.isascii, self._new_strings), bool, len(self._new_strings))
        return np.concatenate([self.table.are_ascii(), new])

    def table_of(self, numbers: Longs) -> tuple[StringTable, Longs]:
        """Return the table of the strings with these ascending `numbers`, and the number of each string in it."""
        known, others = numbers[numbers < self._known], numbers[numbers >= self._known]
        new, order = StringTable.sort(self.strings(others.tolist()))
        table, places, new_places = self.table.picked(known).merged(new)
        found = np.empty(len(numbers), np.int64)
        found[places], found[new_places] = known, others[order]
        return table, found

    def rebuilt(self, used: Bools, keep: Keep = in_memory) -> tuple[Vocabulary, Ints]:
        """Return a vocabulary with the strings that are `used`, all in its table, and the new number of each string.

        The number of a string that is not used is UNUSED.
        """
        known = self._known
        others = np.flatnonzero(used[known:])
        new, order = StringTable.sort([self._new_strings[number] for number in others.tolist()])
        table, places, new_places = self.table.merged(new, used[:known], keep)
        mapping = np.full(len(self), UNUSED, np.int32)
        mapping[:known] = places
        mapping[known + others[order]] = new_places
        terms = keep.empty(len(table), np.int32)
        for first, every in ((0, self.table_terms()), (known, self._new_terms[: len(self._new_strings)])):
            for start in range(0, len(every), BATCH):
                batch = every[start : start + BATCH]
                targets = mapping[first + start : first + start + len(batch)]
                is_used = targets != UNUSED
                batch = batch[is_used]
                terms[targets[is_used]] = np.where(batch == UNUSED, UNUSED, mapping[batch])
            keep.forget()
        return Vocabulary(table, terms), mapping

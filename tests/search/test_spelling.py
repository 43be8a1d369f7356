"""Spelling correction finds the words within an edit or two, compiled and in numpy."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from directory_server.search.index import arrays
from directory_server.search.index.dictionary import CORRECTABLE_LENGTHS, FIRST_CHARACTERS, Dictionary
from directory_server.search.index.vocabulary import Vocabulary

from . import using

letters = st.text("abcé7", min_size=1, max_size=8)


@given(
    st.sets(letters),
    st.text("abc7", min_size=3, max_size=8),
    st.sampled_from([1, 2]),
    st.sampled_from(["", "\0short:"]),
    st.sampled_from([None, arrays.engine]),
)
def test_edit_matches_are_those_of_all_words(words: set[str], word: str, edits: int, kind: str, kernel: object) -> None:
    vocabulary = Vocabulary()
    known = vocabulary.number_words(sorted(words) + [f"\0short:{each}" for each in sorted(words)])
    numbers = np.unique(known)
    dictionary = Dictionary.of(numbers, np.ones(len(numbers), np.int64), vocabulary)
    expected = {
        kind + other: distance
        for other in words
        if 0 < (distance := OSA.distance(word, other)) <= (edits if other[0] == word[0] else 1)
        and len(other) >= CORRECTABLE_LENGTHS.start
        and other[0] in FIRST_CHARACTERS
    }

    with using(arrays.engine if kernel else None):
        found = dictionary.edit_matches(word, edits, kind)

    assert {dictionary.strings[place]: distance for place, distance in found} == expected
    assert len(found) == len(expected)

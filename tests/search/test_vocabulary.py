"""The vocabulary numbers words, and returns them sorted."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from directory_server.search.index.vocabulary import Vocabulary


@given(st.lists(st.lists(st.lists(st.text(min_size=1)))))
def test_words_are_sorted_after_any_insertion_order(batches: list[list[list[str]]]) -> None:
    vocabulary = Vocabulary()
    for texts in batches:
        numbers = vocabulary.number_words(texts)
        assert [vocabulary.words[number] for number in numbers] == [word for text in texts for word in text]

    ordered = vocabulary.in_order(np.ones(len(vocabulary.words), np.int32))

    known = {word for texts in batches for text in texts for word in text}
    assert [vocabulary.words[number] for number in ordered] == sorted(known)
    assert vocabulary.lengths_of(ordered).tolist() == [min(len(word), 255) for word in sorted(known)]


def test_in_order_returns_counted_words_only() -> None:
    vocabulary = Vocabulary()
    vocabulary.number_words([["pear", "apple", "fig"]])
    counts = np.array([1, 0, 2], np.int32)
    vocabulary.number_words([["cherry"]])

    assert [vocabulary.words[number] for number in vocabulary.in_order(counts)] == ["fig", "pear"]

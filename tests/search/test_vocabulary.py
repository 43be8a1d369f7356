"""The vocabulary numbers strings, and sorts them into its table."""

from __future__ import annotations

from bisect import bisect_left
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from directory_server.search.index import arrays
from directory_server.search.index.strings import StringTable, letters_of
from directory_server.search.index.vocabulary import UNUSED, Vocabulary
from directory_server.search.text.analysis import stem

from . import using

texts = st.lists(st.text(max_size=6))


@given(st.lists(st.tuples(texts, st.randoms(use_true_random=False))))
def test_rebuilt_vocabulary_has_the_used_strings_sorted(batches: list[tuple[list[str], Random]]) -> None:
    vocabulary = Vocabulary()
    expected: set[str] = set()
    for words, random in batches:
        numbers = vocabulary.number_words(words)
        assert vocabulary.strings(numbers.tolist()) == words
        assert vocabulary.strings(vocabulary.terms_of(numbers).tolist()) == [stem(word) for word in words]
        used = np.array([random.random() < 0.8 for _ in range(len(vocabulary))], np.bool_)
        old = vocabulary
        expected = {old.string(number) for number in np.flatnonzero(used).tolist()}
        vocabulary, mapping = old.rebuilt(used)
        assert list(vocabulary.table) == sorted(expected)
        assert [number != UNUSED for number in mapping.tolist()] == used.tolist()
        assert all(old.string(place) == vocabulary.string(mapping[place]) for place in np.flatnonzero(used).tolist())
        terms = {
            vocabulary.string(number): term
            for number, term in enumerate(vocabulary.terms_of(np.arange(len(vocabulary))))
        }
        for word in words:
            if word in expected and stem(word) in expected:
                assert vocabulary.string(terms[word]) == stem(word)


@given(st.sets(st.text(max_size=5)), texts)
def test_strings_are_found_in_the_table(strings: set[str], wanted: list[str]) -> None:
    ordered = sorted(strings)
    table = StringTable.of(ordered)

    for kernel in {None, arrays.kernel}:
        with using(kernel):
            for each in [*wanted, *ordered]:
                assert table.find(each) == (ordered.index(each) if each in strings else None)
                span = table.prefix_range(each)
                begun = [other for other in ordered if other.startswith(each) and other != each]
                assert ordered[span] == begun
                assert table.find_each(each, "ab", each) == [
                    ordered.index(other) for other in (each + "a" + each, each + "b" + each) if other in strings
                ]
                assert bisect_left(ordered, each) <= span.start


@given(st.sets(st.text(max_size=5)), st.sets(st.text(max_size=5)))
def test_strings_are_merged_into_the_table(strings: set[str], others: set[str]) -> None:
    new = sorted(others - strings)

    table, _ = StringTable.of(sorted(strings)).merged(new)

    ordered = sorted(strings | others)
    assert list(table) == ordered
    assert table.lengths().tolist() == [len(each) for each in ordered]
    assert table.letters().tolist() == [int(letters_of(each)) for each in ordered]
    assert table.are_ascii().tolist() == [each.isascii() for each in ordered]


def test_lone_surrogates_of_a_query_are_not_found() -> None:
    assert StringTable.of(["a"]).find("\ud800") is None

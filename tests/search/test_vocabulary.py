"""The vocabulary numbers strings, and sorts them into its table."""

from __future__ import annotations

from bisect import bisect_left
from random import Random

import numpy as np
import pytest
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


@given(st.sets(st.text(max_size=5)), texts, st.integers(1, 4))
def test_strings_are_found_in_the_table(strings: set[str], wanted: list[str], sample: int) -> None:
    ordered = sorted(strings)
    table = StringTable.of(ordered)

    for kernel in {None, arrays.engine}:
        with using(kernel), pytest.MonkeyPatch.context() as patch:
            patch.setattr("directory_server.search.index.strings.SAMPLE", sample)
            for each in [*wanted, *ordered]:
                assert table.find(each) == (ordered.index(each) if each in strings else None)
                span = table.prefix_range(each)
                begun = [other for other in ordered if other.startswith(each) and other != each]
                assert ordered[span] == begun
                assert bisect_left(ordered, each) <= span.start


@given(st.sets(st.text(max_size=12)), st.sets(st.text(max_size=12)))
def test_strings_are_sorted_and_merged(strings: set[str], others: set[str]) -> None:
    given = list(strings)
    new = StringTable.of(sorted(others - strings))
    ordered = sorted(strings | others)

    for kernel in {None, arrays.engine}:
        with using(kernel):
            first, order = StringTable.sort(given)
            table, places, new_places = first.merged(new)
            kept = np.array([len(each) % 2 == 0 for each in first], np.bool_)
            part, kept_places, others_places = first.merged(new, kept)
            found = table.find_all([*ordered, "absent from all"])

        assert list(table.picked(np.flatnonzero(found[:-1] % 2))) == ordered[1::2]
        assert list(first) == [given[place] for place in order] == sorted(strings)
        assert list(table) == ordered
        assert [table[place] for place in places.tolist()] == list(first)
        assert [table[place] for place in new_places.tolist()] == list(new)
        assert list(part) == sorted({each for each in first if len(each) % 2 == 0} | set(new))
        assert [place >= 0 for place in kept_places.tolist()] == kept.tolist()
        assert [part[place] for place in kept_places[kept].tolist()] == [each for each in first if len(each) % 2 == 0]
        assert [part[place] for place in others_places.tolist()] == list(new)
        assert found.tolist() == [*range(len(ordered)), -1]
        assert table.lengths().tolist() == [len(each) for each in ordered]
        assert table.letters().tolist() == [int(letters_of(each)) for each in ordered]
        assert table.are_ascii().tolist() == [each.isascii() for each in ordered]


@given(st.sets(st.text("ab\0\uffff", max_size=40), min_size=1), st.sets(st.text("ab\0", max_size=9)), st.integers(1, 5))
def test_equal_beginnings_are_sorted_and_merged_in_batches(strings: set[str], others: set[str], batch: int) -> None:
    new = StringTable.of(sorted(others - strings))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("directory_server.search.index.strings.BATCH", batch)
        first, order = StringTable.sort(list(strings))
        table, places, new_places = first.merged(new)

    assert [list(strings)[place] for place in order] == list(first) == sorted(strings)
    assert list(table) == sorted(strings | others)
    assert [table[place] for place in [*places.tolist(), *new_places.tolist()]] == [*first, *new]


def test_lone_surrogates_of_a_query_are_not_found() -> None:
    assert StringTable.of(["a"]).find("\ud800") is None

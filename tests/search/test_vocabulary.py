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


@given(st.sets(st.text(max_size=12)), st.sets(st.text(max_size=12)))
def test_strings_are_sorted_and_merged(strings: set[str], others: set[str]) -> None:
    given = list(strings)
    new = StringTable.of(sorted(others - strings))
    ordered = sorted(strings | others)

    for kernel in {None, arrays.kernel}:
        with using(kernel):
            first, order = StringTable.sort(given)
            table, places = first.merged(new)
            found = table.find_all([*ordered, "absent from all"])

        assert list(first) == [given[place] for place in order] == sorted(strings)
        assert list(table) == ordered
        assert [first[place] if place >= 0 else new[-1 - place] for place in places.tolist()] == ordered
        assert found.tolist() == [*range(len(ordered)), -1]
        assert table.lengths().tolist() == [len(each) for each in ordered]
        assert table.letters().tolist() == [int(letters_of(each)) for each in ordered]
        assert table.are_ascii().tolist() == [each.isascii() for each in ordered]


@pytest.mark.skipif(arrays.tables is None, reason="there is no compiled module")
def test_many_strings_are_sorted_as_in_python() -> None:
    random = Random(3)
    strings = list({"".join(random.choices("ab", k=random.randrange(20))) for _ in range(5_000)})
    with using(None):
        expected = StringTable.sort(strings)[1].tolist()
    assert StringTable.sort(strings)[1].tolist() == expected


@pytest.mark.skipif(arrays.tables is None, reason="there is no compiled module")
@pytest.mark.parametrize("offsets", [[], [0, 2, 1, 2], [0, 9], [3, 4]])
def test_compiled_tables_reject_offsets_outside_the_data(offsets: list[int]) -> None:
    assert arrays.tables is not None
    valid = np.frombuffer(b"ab", np.uint8), np.array([0, 1, 2], np.uint32)
    invalid = np.frombuffer(b"ab", np.uint8), np.array(offsets, np.uint32)
    for call in (arrays.tables.find_all, arrays.tables.merge):
        for tables in ((*valid, *invalid), (*invalid, *valid)):
            with pytest.raises(ValueError, match=r"offsets|number"):
                call(*tables)
    with pytest.raises(ValueError, match=r"offsets|number"):
        arrays.tables.sort(*invalid)


def test_lone_surrogates_of_a_query_are_not_found() -> None:
    assert StringTable.of(["a"]).find("\ud800") is None

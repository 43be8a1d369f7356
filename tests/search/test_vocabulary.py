"""The vocabulary numbers strings, and sorts them into its table."""

from __future__ import annotations

from bisect import bisect_left
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

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
            table, places, new_places = first.merged(new)
            kept = np.array([len(each) % 2 == 0 for each in first], np.bool_)
            part, kept_places, others_places = first.merged(new, kept)
            found = table.find_all([*ordered, "absent from all"])

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
    for tables in ((*valid, *invalid), (*invalid, *valid)):
        with pytest.raises(ValueError, match=r"offsets|number"):
            arrays.tables.find_all(*tables)
    for first, second in ((valid, invalid), (invalid, valid)):
        with pytest.raises(ValueError, match=r"offsets|number"):
            arrays.tables.merge(*first, np.ones(2, np.bool_), *second, *outputs(4, 4, 2, 2))
    with pytest.raises(ValueError, match=r"offsets|number"):
        arrays.tables.sort(*invalid)


def outputs(size: int, count: int, own: int, others: int) -> tuple[NDArray[Any], ...]:
    """Return the arrays that a merge writes."""
    return np.zeros(size, np.uint8), np.zeros(count + 1, np.uint32), np.zeros(own, np.int32), np.zeros(others, np.int32)


@pytest.mark.skipif(arrays.tables is None, reason="there is no compiled module")
def test_a_merge_writes_arrays_of_the_right_size_only() -> None:
    assert arrays.tables is not None
    one = np.frombuffer(b"ac", np.uint8), np.array([0, 1, 2], np.uint32)
    other = np.frombuffer(b"b", np.uint8), np.array([0, 1], np.uint32)
    kept = np.array([True, False])
    found = outputs(2, 2, 2, 1)
    arrays.tables.merge(*one, kept, *other, *found)
    assert [each.tolist() for each in found] == [[97, 98], [0, 1, 2], [0, -1], [1]]
    for sizes in ((1, 2, 2, 1), (3, 2, 2, 1), (2, 1, 2, 1), (2, 3, 2, 1), (2, 2, 1, 1), (2, 2, 2, 2)):
        with pytest.raises(ValueError, match=r"columns differ|do not fit"):
            arrays.tables.merge(*one, kept, *other, *outputs(*sizes))
    with pytest.raises(ValueError, match="columns differ"):
        arrays.tables.merge(*one, kept[:1], *other, *outputs(2, 2, 2, 1))


def test_lone_surrogates_of_a_query_are_not_found() -> None:
    assert StringTable.of(["a"]).find("\ud800") is None

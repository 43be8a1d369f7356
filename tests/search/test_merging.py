"""Merges of postings: compiled and in numpy, they give what plain Python gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from directory_server.search.index import arrays
from directory_server.search.index.merging import UNIT, PostingLists, Postings, add_up, contains
from directory_server.search.index.packed import Packed

from . import using

DOCUMENTS = 12

postings = st.dictionaries(st.integers(0, DOCUMENTS - 1), st.integers(1, 2 * UNIT - 1))
"""The documents of one term, and its stored impact in each."""

COMPILED = arrays.kernel
KERNELS = [None] if COMPILED is None else [None, COMPILED]


def lists_of(terms: Sequence[Mapping[int, int]]) -> PostingLists:
    starts = np.cumsum([0, *map(len, terms), 0]).astype(np.uint32)
    doc_ids = np.array([doc_id for term in terms for doc_id in sorted(term)], np.int32)
    impacts = np.array([term[doc_id] for term in terms for doc_id in sorted(term)], np.uint16)
    return PostingLists(starts, doc_ids, impacts, DOCUMENTS)


def first_seen(terms: Sequence[Mapping[int, int]]) -> list[int]:
    return list(dict.fromkeys(doc_id for term in terms for doc_id in sorted(term)))


def pairs(found: Postings) -> list[tuple[int, float]]:
    doc_ids, scores = found
    assert [doc_ids.dtype.name, scores.dtype.name] == ["int32", "float32"]
    return list(zip(doc_ids.tolist(), scores.tolist(), strict=True))


MERGES: Mapping[str, Callable[[Sequence[float]], float]] = {"best_of": max, "least_of": min, "sum_of": sum}


@given(
    st.lists(st.tuples(postings, st.floats(0.0625, 50, width=32)), max_size=6),
    st.sampled_from([*MERGES]),
    st.sampled_from(KERNELS),
)
def test_merge_of_terms(
    weighted: Sequence[tuple[Mapping[int, int], float]], name: str, kernel: ModuleType | None
) -> None:
    terms = [term for term, _ in weighted]
    expected: list[object] = []
    for doc_id in first_seen(terms):
        scores = [float(weight) * term[doc_id] / UNIT for term, weight in weighted if doc_id in term]
        if name != "least_of" or len(scores) == len(terms):
            expected.append((doc_id, pytest.approx(MERGES[name](scores), rel=1e-6)))
    numbers, weights = np.arange(len(terms)), np.array([float(weight) for _, weight in weighted])

    with using(kernel):
        assert [*pairs(getattr(lists_of(terms), name)(numbers, weights))] == expected


@given(st.lists(postings, max_size=6), st.sampled_from(KERNELS))
def test_sum_of_postings(terms: Sequence[Mapping[int, int]], kernel: ModuleType | None) -> None:
    lists = lists_of(terms)
    expected = {id: sum(term.get(id, 0) for term in terms) / UNIT for id in first_seen(terms)}

    with using(kernel):
        found = pairs(add_up([lists.scores_of(number, 1.0) for number in range(len(terms))], DOCUMENTS))

    assert dict(found) == {doc_id: pytest.approx(score, rel=1e-6) for doc_id, score in expected.items()}
    assert [doc_id for doc_id, _ in found] == list(expected)


@pytest.mark.skipif(COMPILED is None, reason="the compiled module was not built")
@given(st.lists(st.tuples(postings, st.floats(0.01, 50)), max_size=6), st.sampled_from([*MERGES]))
def test_compiled_merges_equal_those_of_numpy(weighted: Sequence[tuple[Mapping[int, int], float]], name: str) -> None:
    lists = lists_of([term for term, _ in weighted])
    numbers, weights = np.arange(len(weighted)), np.array([float(weight) for _, weight in weighted])
    compiled = getattr(lists, name)(numbers, weights)
    with using(None):
        plain = getattr(lists, name)(numbers, weights)

    assert pairs(compiled) == pairs(plain)


@pytest.mark.parametrize("kernel", KERNELS)
def test_newer_terms_have_no_postings(kernel: ModuleType | None) -> None:
    lists = lists_of([{1: UNIT}])

    with using(kernel):
        assert pairs(lists.best_of(np.array([0, 7]), np.array([1.0, 1.0]))) == [(1, 1.0)]
    assert pairs(lists.scores_of(7, 1.0)) == []
    assert lists.frequencies(np.array([0, 7])).tolist() == [1, 0]
    assert lists.frequency(7) == 0


@pytest.mark.skipif(COMPILED is None, reason="the compiled module was not built")
def test_compiled_merges_check_their_arguments() -> None:
    lists = lists_of([{1: UNIT, 11: UNIT}])
    assert COMPILED is not None
    columns = lists.starts, lists.doc_ids, lists.impacts
    one = np.ones(1)
    with pytest.raises(IndexError):
        COMPILED.best_of(*columns, np.array([9]), one, DOCUMENTS)
    with pytest.raises(IndexError):
        COMPILED.best_of(*columns, np.array([0]), one, 11)
    with pytest.raises(ValueError, match="length"):
        COMPILED.sum_of(*columns, np.array([0]), one[:0], DOCUMENTS)
    with pytest.raises(ValueError, match="length"):
        COMPILED.add_up([lists.doc_ids], [np.ones(1, np.float32)], DOCUMENTS)
    with pytest.raises(IndexError):
        COMPILED.add_up([np.array([-1], np.int32)], [np.ones(1, np.float32)], DOCUMENTS)
    for documents in (-1, 2**31):
        with pytest.raises(ValueError, match="out of range"):
            COMPILED.best_of(*columns, np.array([0]), one, documents)
        with pytest.raises(ValueError, match="out of range"):
            COMPILED.add_up([lists.doc_ids], [np.ones(2, np.float32)], documents)


@given(st.sets(st.integers(0, 30)), st.lists(st.integers(0, 30)), st.sampled_from(KERNELS))
def test_contains(doc_ids: set[int], wanted: list[int], kernel: ModuleType | None) -> None:
    with using(kernel):
        found = contains(np.array(sorted(doc_ids), np.int32), np.array(wanted, np.int32))
    assert found.tolist() == [each in doc_ids for each in wanted]


@given(st.lists(st.binary(max_size=5)), st.data(), st.sampled_from(KERNELS))
def test_packed_items(items: list[bytes], data: st.DataObject, kernel: ModuleType | None) -> None:
    numbers = data.draw(st.lists(st.integers(0, len(items) - 1))) if items else []
    with using(kernel):
        assert Packed.of(items).take(numbers) == [items[number] for number in numbers]


@pytest.mark.skipif(COMPILED is None, reason="the compiled module was not built")
def test_compiled_look_ups_check_their_arguments() -> None:
    assert COMPILED is not None
    packed = Packed.of([b"ab", b"c"])
    for number in (-1, 2):
        with pytest.raises(IndexError):
            COMPILED.items(packed.data, packed.offsets, [number])
    for offsets in (packed.offsets + 1, packed.offsets[::-1].copy(), packed.offsets - 1):
        with pytest.raises(IndexError):
            COMPILED.items(packed.data, offsets, [1, 0])
    columns = packed.data, np.array([0, 2, 3], np.uint32), np.ones(2, np.uint8)
    every = np.array([0, 2], np.uint32)
    assert COMPILED.first_edits(*columns, np.ones(2, np.int32), b"", b"bb", b"a", every, every, 1) == [0]
    for counts, word, ranges in (
        (np.ones(1, np.int32), b"abc", every),
        (np.ones(2, np.int32), b"a", every),
        (np.ones(2, np.int32), b"abc", every[:1]),
        (np.ones(2, np.int32), b"abc", every + np.uint32(1)),
    ):
        with pytest.raises(ValueError, match="length"):
            COMPILED.first_edits(*columns, counts, b"", word, b"x", ranges, every, 1)
    for most in (-1, 65, 2**30, 2**31 - 1):
        with pytest.raises(ValueError, match=f"most must be 0 to 64, not {most}"):
            COMPILED.near(*columns, np.ones(2, np.uint64), np.ones(2, np.int32), 0, 2, 0, b"ab", 0, 0, 9, most)
    with pytest.raises(ValueError, match="offsets"):
        COMPILED.first_ranges(columns[0], columns[1] + np.uint32(9), b"", b"x", b"")

"""Merges of postings give what plain Python gives, and so do look-ups of the engine."""

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

COMPILED = arrays.engine
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
)
def test_merge_of_terms(weighted: Sequence[tuple[Mapping[int, int], float]], name: str) -> None:
    terms = [term for term, _ in weighted]
    expected: list[object] = []
    for doc_id in first_seen(terms):
        scores = [float(weight) * term[doc_id] / UNIT for term, weight in weighted if doc_id in term]
        if name != "least_of" or len(scores) == len(terms):
            expected.append((doc_id, pytest.approx(MERGES[name](scores), rel=1e-6)))
    numbers, weights = np.arange(len(terms)), np.array([float(weight) for _, weight in weighted])

    assert [*pairs(getattr(lists_of(terms), name)(numbers, weights))] == expected


@given(st.lists(postings, max_size=6))
def test_sum_of_postings(terms: Sequence[Mapping[int, int]]) -> None:
    lists = lists_of(terms)
    expected = {id: sum(term.get(id, 0) for term in terms) / UNIT for id in first_seen(terms)}

    found = pairs(add_up([lists.scores_of(number, 1.0) for number in range(len(terms))], DOCUMENTS))

    assert dict(found) == {doc_id: pytest.approx(score, rel=1e-6) for doc_id, score in expected.items()}
    assert [doc_id for doc_id, _ in found] == list(expected)


def test_newer_terms_have_no_postings() -> None:
    lists = lists_of([{1: UNIT}])

    assert pairs(lists.best_of(np.array([0, 7]), np.array([1.0, 1.0]))) == [(1, 1.0)]
    assert pairs(lists.scores_of(7, 1.0)) == []
    assert lists.frequencies(np.array([0, 7])).tolist() == [1, 0]
    assert lists.frequency(7) == 0


@given(st.sets(st.integers(0, 30)), st.lists(st.integers(0, 30)), st.sampled_from(KERNELS))
def test_contains(doc_ids: set[int], wanted: list[int], kernel: ModuleType | None) -> None:
    with using(kernel):
        found = contains(np.array(sorted(doc_ids), np.int32), np.array(wanted, np.int32))
    assert found.tolist() == [each in doc_ids for each in wanted]


@given(st.lists(st.binary(max_size=5)), st.data())
def test_packed_items(items: list[bytes], data: st.DataObject) -> None:
    numbers = data.draw(st.lists(st.integers(0, len(items) - 1))) if items else []
    assert Packed.of(items).take(numbers) == [items[number] for number in numbers]

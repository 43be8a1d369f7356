"""Rows of documents: the look-up of an entry."""

from __future__ import annotations

import tracemalloc

import numpy as np

from directory_server.search.index.packed import Packed
from directory_server.search.index.rows import Rows, key_of
from directory_server.search.text.word_vectors import DIMENSIONS


def rows_of(count: int) -> Rows:
    """Return rows without texts."""
    keys = np.array([key_of(str(number)) for number in range(count)], np.uint64)
    nothing = Packed.of([b""] * count)
    numbers = np.zeros(count, np.int32)
    vectors = np.zeros((count, DIMENSIONS), np.int8)
    return Rows(nothing, nothing, keys, keys, np.zeros(count, np.float32), keys, numbers, numbers, vectors, nothing)


def test_a_lookup_copies_no_array() -> None:
    rows = rows_of(20_000)
    assert rows.find("unknown") is None
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        assert rows.find("another") is None
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak - before < 10_000


def test_rows_are_in_the_order_of_their_keys() -> None:
    rows = rows_of(1_000)
    ordered = rows.keys[rows.order]
    assert np.array_equal(ordered, np.sort(rows.keys))
    assert len(set(rows.order.tolist())) == 1_000

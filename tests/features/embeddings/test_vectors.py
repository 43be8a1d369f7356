"""Vectors in memory, and the likeness of entries and a query."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from directory_server.features.embeddings.vectors import DEVIATIONS, LEAST_KNOWN, SAMPLE, Vectors
from directory_server.search import entry_key

SIZE = 16


def stored(direction: NDArray[Any]) -> bytes:
    row: bytes = np.rint(direction * 127 / np.abs(direction).max()).astype(np.int8).tobytes()
    return row


def random_rows(count: int, seed: int = 0) -> dict[str, bytes]:
    numbers = np.random.default_rng(seed).normal(size=(count, SIZE))
    return {f"entry {place}": stored(row) for place, row in enumerate(numbers)}


def filled(rows: dict[str, bytes], part: int = 7) -> Vectors:
    """Return vectors to which `rows` were added in parts."""
    vectors, pairs = Vectors(), list(rows.items())
    for start in range(0, len(pairs), part):
        vectors.add(pairs[start : start + part])
    return vectors


def likeness(vectors: Vectors, query: bytes, *names: str) -> list[float]:
    found = vectors.likeness(query, [entry_key(name) for name in names])
    assert found is not None
    return list(found)


def unit(row: bytes) -> NDArray[Any]:
    numbers: NDArray[Any] = np.frombuffer(row, np.int8).astype(float)
    numbers /= np.linalg.norm(numbers)
    return numbers


def test_the_likeness_is_the_cosine_in_deviations_of_all() -> None:
    rows = random_rows(100)
    query = stored(np.random.default_rng(1).normal(size=SIZE))
    cosines = [float(unit(row) @ unit(query)) for row in rows.values()]
    expected = [(cosine - np.mean(cosines)) / np.std(cosines) / DEVIATIONS for cosine in cosines]
    assert likeness(filled(rows), query, *rows) == pytest.approx(expected, abs=1e-6)


def test_the_order_of_additions_does_not_matter() -> None:
    rows = random_rows(3 * SAMPLE)
    query = stored(np.ones(SIZE))
    names = [*rows][:50]
    backwards = dict(reversed(rows.items()))
    assert likeness(filled(rows, 999), query, *names) == likeness(filled(backwards, 500), query, *names)


def test_a_new_vector_replaces_the_old_one() -> None:
    rows = random_rows(50)
    vectors = filled(rows)
    (before,) = likeness(vectors, rows["entry 3"], "entry 3")
    vectors.add([("entry 3", stored(np.ones(SIZE))), ("entry 3", rows["entry 4"])])
    assert len(vectors) == 50
    assert likeness(vectors, rows["entry 3"], "entry 3")[0] < before
    third, fourth = likeness(vectors, rows["entry 4"], "entry 3", "entry 4")
    assert third == fourth


def test_an_entry_without_a_vector_has_the_mean_likeness() -> None:
    rows = random_rows(20)
    found = likeness(filled(rows), rows["entry 0"], *rows, "unknown")
    assert found[-1] == pytest.approx(np.mean(found[:-1]))


def test_nothing_is_known_if_many_vectors_are_missing() -> None:
    rows = random_rows(20)
    vectors, query = filled(rows), rows["entry 0"]
    unknown = int(len(rows) / LEAST_KNOWN) - len(rows) + 1
    names = [*rows, *(f"unknown {place}" for place in range(unknown))]
    assert vectors.likeness(query, [entry_key(name) for name in names]) is None
    assert Vectors().likeness(query, [entry_key("a")]) is None


def test_vectors_of_another_length_are_left_out() -> None:
    rows = random_rows(20)
    vectors = filled(rows)
    vectors.add([("entry 0", b"\x01\x02"), ("other", b"\x01" * (SIZE + 1))])
    assert len(vectors) == 20
    assert vectors.likeness(b"\x01\x02", [entry_key("entry 0")]) is None


def test_vectors_without_differences_give_a_finite_likeness() -> None:
    vectors = filled(dict.fromkeys(["a", "b"], b"\x7f\x00"))
    assert likeness(vectors, b"\x7f\x00", "a", "b") == [0.0, 0.0]
    zeros = filled(dict.fromkeys(["a", "b"], b"\x00\x00"))
    assert likeness(zeros, b"\x7f\x00", "a", "b") == [0.0, 0.0]


def test_memory_is_about_a_byte_for_each_number() -> None:
    vectors = filled(random_rows(4_000), 500)
    assert vectors.size < 4_000 * (1.25 * SIZE + 16) + 8 * SAMPLE * SIZE + 1
    vectors.clear()
    assert (len(vectors), vectors.dimensions, vectors.size) == (0, 0, 0)
    vectors.add([("a", b"\x01\x02")])
    assert vectors.dimensions == 2

"""Vectors in responses: valid ones, and those of a hostile endpoint."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from directory_server.features.embeddings.endpoint import MAX_DIMENSIONS, EndpointFailed, max_bytes, vectors_of


def body(*vectors: Any, **members: Any) -> bytes:
    items = [{"object": "embedding", "index": place, "embedding": vector} for place, vector in enumerate(vectors)]
    return json.dumps({"object": "list", "data": items, "model": "m", "usage": {"total_tokens": 3}, **members}).encode()


def test_vectors_are_scaled_to_bytes() -> None:
    assert [np.frombuffer(each, np.int8).tolist() for each in vectors_of(body([0.5, -1, 0.25], [3, 0, 0]), 2)] == [
        [64, -127, 32],
        [127, 0, 0],
    ]


def test_vectors_are_in_the_order_of_the_request() -> None:
    items = [{"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [1, 0]}]
    assert vectors_of(json.dumps({"data": items}).encode(), 2) == [b"\x7f\x00", b"\x00\x7f"]


def test_an_index_may_be_absent() -> None:
    items = [{"embedding": [1, 0]}, {"embedding": [0, 1]}]
    assert vectors_of(json.dumps({"data": items}).encode(), 2) == [b"\x7f\x00", b"\x00\x7f"]


def test_the_longest_vector_fits_the_bound_of_bytes() -> None:
    vectors = [[-1.2345678901234567e-10] * MAX_DIMENSIONS] * 3
    assert len(body(*vectors)) < max_bytes(3)
    assert len(vectors_of(body(*vectors), 3)[0]) == MAX_DIMENSIONS


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b'{"data":null}',
        body(),
        body([1, 0]),
        body([1, 0], [0, 1], [1, 1]),
        body([1, 0], None),
        body([1, 0], []),
        body([1, 0], [1]),
        body([1, 0], [1, 0, 0]),
        body([1, 0], [0, 0]),
        body([1, 0], [True, False]),
        body([1, 0], ["1", "0"]),
        body([1, 0], [[1], [0]]),
        body([1, 0], [1e300, 0]),
        body([1, 0], [1e-300, 0]),
        body([1, 0], [10**400, 0]),
        body([1, 0], [float("nan"), 0]),
        body([1, 0], [float("inf"), 0]),
        body([1] * (MAX_DIMENSIONS + 1), [1] * (MAX_DIMENSIONS + 1)),
        json.dumps({"data": [{"index": 0, "embedding": [1, 0]}] * 2}).encode(),
        json.dumps({"data": [{"index": place, "embedding": [1, 0]} for place in (0, 2)]}).encode(),
        json.dumps({"data": [{"index": place, "embedding": [1, 0]} for place in (0, -1)]}).encode(),
        json.dumps({"data": [{"index": place, "embedding": [1, 0]} for place in (0, True)]}).encode(),
        json.dumps({"data": [[1, 0], [0, 1]]}).encode(),
        b'{"data":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"data":[],"data":[]}',
        b"\xff" + body([1, 0], [0, 1]),
    ],
)
def test_an_invalid_response_is_an_error(text: bytes) -> None:
    with pytest.raises(EndpointFailed, match=r"^It "):
        vectors_of(text, 2)

"""Vectors in the responses of an endpoint, which are not trusted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import serialization
from ...domain.errors import BadInput
from ...http_client import BadResponse

MAX_DIMENSIONS = 4_096
"""The most numbers of a vector."""

NUMBER_BYTES = 32
"""Bytes of a number in a response, at most: its digits, sign, exponent and separators."""

HEAD_BYTES = 65_536
"""Bytes of a response besides its numbers."""


def max_bytes(count: int) -> int:
    """Return the bytes of a response with `count` vectors, at most."""
    return HEAD_BYTES + count * MAX_DIMENSIONS * NUMBER_BYTES


def vectors_of(body: bytes, count: int) -> Sequence[bytes]:
    """Return the `count` vectors of a response, in the order of the request, as they are stored. Raises BadResponse.

    They have the same number of numbers. Each is scaled to whole numbers from -127 to 127.
    """
    try:
        value = serialization.decode(body, what="It")
    except BadInput as error:
        raise BadResponse(error.message) from None
    items = value.get("data") if isinstance(value, dict) else None
    if not isinstance(items, list) or len(items) != count:
        raise BadResponse(f"It has not {count} vectors in its member data.")
    vectors: list[bytes | None] = [None] * count
    for place, item in enumerate(items):
        number = item.get("index", place) if isinstance(item, dict) else None
        if type(number) is not int or not 0 <= number < count or vectors[number] is not None:
            raise BadResponse("It has an item of data without an index of its own.")
        vectors[number] = _stored(item.get("embedding"))
    found = [vector for vector in vectors if vector is not None]
    if len({len(vector) for vector in found}) != 1:
        raise BadResponse("It has vectors of different lengths.")
    return found


def _stored(numbers: Any) -> bytes:
    if not isinstance(numbers, list) or not 2 <= len(numbers) <= MAX_DIMENSIONS:
        raise BadResponse(f"It has a vector that is no list of 2 to {MAX_DIMENSIONS:,} numbers.")
    if not all(type(number) in (float, int) for number in numbers):
        raise BadResponse("It has a vector with a member that is no number.")
    vector = np.array(numbers, np.float64)
    greatest = float(np.abs(vector).max())
    # A vector of zeros has no direction. Greater numbers than these are no vector of any model.
    if not 1e-12 < greatest < 1e12:
        raise BadResponse("It has a vector of zeros, or with a number that is too great.")
    return stored_vector(vector)


def stored_vector(vector: NDArray[np.floating[Any]]) -> bytes:
    """Return a vector as it is stored: a byte for each number. It has a number that is not 0."""
    scaled: NDArray[np.int8] = np.rint(vector * (127 / float(np.abs(vector).max()))).astype(np.int8)
    return scaled.tobytes()

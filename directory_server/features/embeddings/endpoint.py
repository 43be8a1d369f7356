"""The endpoint of a model: requests for vectors, with bounds on time and bytes, and untrusted responses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray
from twisted.internet.defer import Deferred, succeed
from twisted.web.client import Agent

from ... import serialization
from ...domain.errors import BadInput, DirectoryError
from ...domain.ports.runtime import Offload
from ...domain.ports.tracing import Trace
from ...http_client import BadResponse, CertificatePolicy, DocumentClient, HeadBoundedPool
from .settings import EmbeddingsConfig

CONNECT = 5.0
"""Timeout of a connection attempt in seconds."""

CONNECTIONS = 4
"""Idle connections that are kept."""

QUERY_DEADLINE, PASSAGES_DEADLINE = 5.0, 120.0
"""Timeouts in seconds of a request with a query, which searches do not wait for, and of one with texts of entries."""


class EndpointFailed(DirectoryError):
    """The endpoint gave no vectors; the message says what "it" did."""

    code = "endpoint_failed"


@frozen(eq=False)
class Endpoint:
    """An endpoint of the form `POST /v1/embeddings`. `key` is sent to it and to nobody else: redirects are errors."""

    _client: DocumentClient
    _offload: Offload
    _settings: EmbeddingsConfig
    _key: str = field(default="", repr=False)
    close: Callable[[], Deferred[None]] = lambda: succeed(None)

    async def query(self, text: str) -> bytes:
        """Return the stored vector of a query. Raises EndpointFailed and CancelledError."""
        model, prefix = self._settings.query_model or self._settings.model, self._settings.query_prefix
        # One vector is decoded in less than a millisecond.
        return vectors_of(await self._body(model, [prefix + text], QUERY_DEADLINE), 1)[0]

    async def passages(self, texts: Sequence[str]) -> Sequence[bytes]:
        """Return the stored vectors of texts of entries. Raises EndpointFailed and CancelledError."""
        prefixed = [self._settings.passage_prefix + text for text in texts]
        body = await self._body(self._settings.model, prefixed, PASSAGES_DEADLINE)
        return await self._offload(vectors_of, body, len(texts))

    async def _body(self, model: str, texts: Sequence[str], deadline: float) -> bytes:
        """Return the body of the response to a request for vectors of `texts`, within `deadline` seconds."""
        members: dict[str, object] = {"model": model, "input": texts, "encoding_format": "float"}
        if self._settings.dimensions:
            members["dimensions"] = self._settings.dimensions
        try:
            return await self._client.get(
                self._settings.url,
                max_bytes=max_bytes(len(texts)),
                deadline=deadline,
                authorization=f"Bearer {self._key}" if self._key else "",
                json=serialization.encode(members),
            )
        except BadResponse as error:
            raise EndpointFailed(error.message) from None


def endpoint_of(reactor: Any, offload: Offload, settings: EmbeddingsConfig, key: str, trace: Trace) -> Endpoint:
    """Return the endpoint of `settings`. The machine's certificate authorities are trusted."""
    pool = HeadBoundedPool(reactor)
    pool.maxPersistentPerHost = CONNECTIONS
    agent = Agent(reactor, CertificatePolicy(), connectTimeout=CONNECT, pool=pool)
    client = DocumentClient(trace("upstream", agent), reactor, "embeddings", keeps=True)
    return Endpoint(client, offload, settings, key, pool.closeCachedConnections)


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
    """Return the `count` vectors of a response, in the order of the request, as they are stored. Raises EndpointFailed.

    They have the same number of numbers. Each is scaled to whole numbers from -127 to 127.
    """
    try:
        value = serialization.decode(body, what="It")
    except BadInput as error:
        raise EndpointFailed(error.message) from None
    items = value.get("data") if isinstance(value, dict) else None
    if not isinstance(items, list) or len(items) != count:
        raise EndpointFailed(f"It has not {count} vectors in its member data.")
    vectors: list[bytes | None] = [None] * count
    for place, item in enumerate(items):
        number = item.get("index", place) if isinstance(item, dict) else None
        if type(number) is not int or not 0 <= number < count or vectors[number] is not None:
            raise EndpointFailed("It has an item of data without an index of its own.")
        vectors[number] = _stored(item.get("embedding"))
    found = [vector for vector in vectors if vector is not None]
    if len({len(vector) for vector in found}) != 1:
        raise EndpointFailed("It has vectors of different lengths.")
    return found


def _stored(numbers: Any) -> bytes:
    if not isinstance(numbers, list) or not 2 <= len(numbers) <= MAX_DIMENSIONS:
        raise EndpointFailed(f"It has a vector that is no list of 2 to {MAX_DIMENSIONS:,} numbers.")
    if not all(type(number) in (float, int) for number in numbers):
        raise EndpointFailed("It has a vector with a member that is no number.")
    vector = np.array(numbers, np.float64)
    greatest = float(np.abs(vector).max())
    # A vector of zeros has no direction. Greater numbers than these are no vector of any model.
    if not 1e-12 < greatest < 1e12:
        raise EndpointFailed("It has a vector of zeros, or with a number that is too great.")
    return stored_vector(vector)


def stored_vector(vector: NDArray[np.floating[Any]]) -> bytes:
    """Return a vector as it is stored: a byte for each number. It has a number that is not 0."""
    scaled: NDArray[np.int8] = np.rint(vector * (127 / float(np.abs(vector).max()))).astype(np.int8)
    return scaled.tobytes()

"""The endpoint of a model: requests for vectors, with bounds on time and bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from attrs import field, frozen
from twisted.internet.defer import Deferred, succeed
from twisted.web.client import Agent

from ... import serialization
from ...domain.errors import DirectoryError
from ...domain.ports.runtime import Offload
from ...domain.ports.tracing import Trace
from ...http_client import BadResponse, CertificatePolicy, DocumentClient, HeadBoundedPool
from .responses import max_bytes, vectors_of
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
        return vectors_of_response(await self._body(model, [prefix + text], QUERY_DEADLINE), 1)[0]

    async def passages(self, texts: Sequence[str]) -> Sequence[bytes]:
        """Return the stored vectors of texts of entries. Raises EndpointFailed and CancelledError."""
        prefixed = [self._settings.passage_prefix + text for text in texts]
        body = await self._body(self._settings.model, prefixed, PASSAGES_DEADLINE)
        return await self._offload(vectors_of_response, body, len(texts))

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


def vectors_of_response(body: bytes, count: int) -> Sequence[bytes]:
    """Return the vectors of a response. Raises EndpointFailed."""
    try:
        return vectors_of(body, count)
    except BadResponse as error:
        raise EndpointFailed(error.message) from None

"""Embeddings in a server."""

from __future__ import annotations

from secrets import token_hex

from ...domain.errors import Unavailable
from ...feature import Host, Running
from ...files import read_regular_file
from .builder import VectorBuilder
from .endpoint import endpoint_of
from .metrics import EmbeddingMetrics
from .queries import QueryVectors
from .settings import EmbeddingsConfig
from .tables import Embeddings
from .texts import model_id


def running(host: Host) -> Running:
    """Return the service that makes vectors, and the likeness for searches. Raises Unavailable without the key."""
    settings = host.config.of(EmbeddingsConfig)
    metrics = EmbeddingMetrics(host.metrics)
    endpoint = endpoint_of(host.reactor, host.offload, settings, _key(settings.key_file), host.trace)
    builder = VectorBuilder(
        model_id(settings),
        settings.batch,
        endpoint,
        host.storage.store,
        Embeddings(host.storage.tables),
        host.offload,
        host.reactor,
        token_hex(8),
        metrics.made,
    )
    queries = QueryVectors(
        endpoint,
        builder.vectors,
        host.reactor,
        settings.timeout,
        lambda: builder.is_complete,
        metrics.count,
        metrics.observe,
    )
    metrics.watch(builder.vectors, lambda: builder.is_complete)
    return Running((builder, queries), likeness=queries)


def _key(path: str) -> str:
    """Return the key in a file, none without a path. Raises Unavailable; the message has no part of the key."""
    if not path:
        return ""
    try:
        key = read_regular_file(path).decode().strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise Unavailable(f"The file {path} of embeddings.key_file cannot be read: {reason}.") from None
    if not key or not key.isascii() or not key.isprintable():
        raise Unavailable(f"The file {path} of embeddings.key_file holds no line of printable ASCII.")
    return key

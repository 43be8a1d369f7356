"""Embeddings in a server, and their metrics."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from ...config import ConfigError, read_secret
from ...domain.ports.search import LIKENESS
from ...feature.server import SERVICES, Server
from ...runtime.timers import Timer
from .builder import INTERVAL, VectorBuilder
from .endpoint import endpoint_of
from .queries import QueryVectors
from .settings import EmbeddingsConfig
from .tables import Embeddings
from .texts import model_id
from .vectors import Vectors


def run(server: Server) -> None:
    """Add the vectors of entries, and the likeness to searches. Raises ConfigError without the key."""
    settings = server.config.of(EmbeddingsConfig)
    metrics = EmbeddingMetrics(server.metrics)
    key = read_secret("embeddings.key_file", settings.key_file)
    if not key.isascii():
        raise ConfigError("embeddings.key_file: must be ASCII.")
    endpoint = endpoint_of(server.reactor, server.offload, settings, key, server.trace)
    embeddings = Embeddings(server.storage.tables)
    builder = VectorBuilder(model_id(settings), settings.batch, endpoint, embeddings, server.offload, metrics.made)
    queries = QueryVectors(
        endpoint,
        builder.vectors,
        server.reactor,
        settings.timeout,
        lambda: builder.is_complete,
        metrics.count,
        metrics.observe,
    )
    metrics.watch(builder.vectors, lambda: builder.is_complete)
    reader = Timer(INTERVAL, builder.read, server.reactor, finish=builder.close)
    server.add(SERVICES, builder.follower(server.storage, server.reactor), reader, queries)
    server.set(LIKENESS, queries)


LATENCIES = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
"""Histogram buckets in seconds."""

OUTCOMES = ("used", "cached", "late", "failed", "busy", "paused", "incomplete", "missing", "unlike_first_page")
"""What became of the likeness for a search."""


class EmbeddingMetrics:
    """Counts of searches and of vectors, in `registry`."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry
        self._searches = Counter(
            "directory_embedding_searches",
            "Searches by what became of their embedding.",
            ["outcome"],
            registry=registry,
        )
        for outcome in OUTCOMES:
            self._searches.labels(outcome)
        self._seconds = Histogram(
            "directory_embedding_query_seconds",
            "Seconds from a request for the vector of a query to the response.",
            buckets=LATENCIES,
            registry=registry,
        )
        self._made = Counter("directory_embedding_entries", "Vectors of entries that were made.", registry=registry)

    def count(self, outcome: str) -> None:
        """Count a search."""
        self._searches.labels(outcome).inc()

    def observe(self, seconds: float) -> None:
        """Record the seconds that the vector of a query took."""
        self._seconds.observe(seconds)

    def made(self, number: int) -> None:
        """Count vectors of entries."""
        self._made.inc(number)

    def watch(self, vectors: Vectors, is_complete: Callable[[], bool]) -> None:
        """Read the number of vectors and their memory at each scrape."""
        gauges: Sequence[tuple[str, str, Callable[[], float]]] = (
            ("vectors", "Vectors of entries in memory.", lambda: len(vectors)),
            ("bytes", "Bytes of these vectors.", lambda: vectors.size),
            ("complete", "1 if all entries had a vector once, so that searches use them, 0 otherwise.", is_complete),
        )
        for name, about, read in gauges:
            Gauge(f"directory_embedding_{name}", about, registry=self._registry).set_function(read)

"""Metrics of embeddings."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from attrs import frozen
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from .vectors import Vectors

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
        self._registry.register(_Gauges(vectors, is_complete))


@frozen(eq=False)
class _Gauges(Collector):
    _vectors: Vectors
    _is_complete: Callable[[], bool]

    def collect(self) -> Iterator[Metric]:
        yield GaugeMetricFamily("directory_embedding_vectors", "Vectors of entries in memory.", len(self._vectors))
        yield GaugeMetricFamily("directory_embedding_bytes", "Bytes of these vectors.", self._vectors.size)
        yield GaugeMetricFamily(
            "directory_embedding_complete",
            "1 if all entries had a vector once, so that searches use them, 0 otherwise.",
            float(self._is_complete()),
        )

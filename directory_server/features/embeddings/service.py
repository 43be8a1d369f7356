"""Embeddings in a server, and their metrics."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from attrs import define, field, frozen
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from twisted.application.service import Service
from twisted.internet.defer import CancelledError, Deferred, TimeoutError
from twisted.logger import Logger

from ...config import ConfigError, read_secret
from ...domain.ports.search import LIKENESS
from ...domain.search import Likeness, Query
from ...domain.throttling import Circuit
from ...feature.server import SERVICES, Server
from ...runtime.timers import Timer
from ...search import topic
from .builder import INTERVAL, VectorBuilder, model_id
from .endpoint import Endpoint, EndpointFailed, endpoint_of
from .settings import EmbeddingsConfig
from .vectors import Embeddings, Vectors

MAX_TEXT = 1_000
"""Characters of a query that the model reads."""

CACHED = 2_000
"""Queries whose vectors are cached."""

MAX_RUNNING = 16
"""Requests for vectors of queries at a time."""

T = TypeVar("T")


@frozen
class QueryLikeness:
    """The likeness of entries and a query. Those of the same text and the same vectors are equal."""

    text: str
    revision: int
    _query: bytes = field(eq=False, repr=False)
    _vectors: Vectors = field(eq=False, repr=False)
    _missed: Callable[[], None] = field(eq=False, repr=False)

    def __call__(self, entries: Sequence[int]) -> Sequence[float] | None:
        likeness = self._vectors.likeness(self._query, entries)
        if likeness is None:
            self._missed()
        return likeness


@define(eq=False)
class _Waiting:
    """The searches that wait for a request, and its beginning in seconds."""

    began: float
    answers: list[Deferred[bytes | None]] = field(factory=list)


@define(eq=False, repr=False)
class QueryVectors(Service):
    """Returns the likeness for a query, None if there is none for it within `timeout` seconds.

    A later response of the endpoint is for later searches. Searches for the same text share a request, and none waits
    for one that began longer ago.
    `is_ready` returns whether all entries had a vector once. `count` is called with the outcome of each search.
    """

    _log = Logger()

    _endpoint: Endpoint
    _vectors: Vectors
    _clock: Any
    _timeout: float
    _is_ready: Callable[[], bool]
    _count: Callable[[str], None]
    _observe: Callable[[float], None]
    _circuit: Circuit = field(factory=Circuit, init=False)
    _cached: OrderedDict[str, bytes] = field(factory=OrderedDict, init=False)
    _without: OrderedDict[str, None] = field(factory=OrderedDict, init=False)
    """Texts whose last first page had no likeness, so that later pages have the same order."""
    _waiting: dict[str, _Waiting] = field(factory=dict, init=False)
    _requests: set[Deferred[None]] = field(factory=set, init=False)

    async def __call__(self, query: Query) -> Likeness | None:
        text = text_of_query(query)
        if not text:
            return None
        vector = await self._vector(text, is_first=query.after is None)
        if query.after is None:
            if vector is None:
                _put(self._without, text, None)
            else:
                self._without.pop(text, None)
        if vector is None:
            return None
        return QueryLikeness(text, self._vectors.revision, vector, self._vectors, self._miss)

    def stopService(self) -> None:
        """Cancel the requests that run."""
        super().stopService()
        for request in [*self._requests]:
            request.cancel()

    async def _vector(self, text: str, *, is_first: bool) -> bytes | None:
        if not self._is_ready():
            self._count("incomplete")
            return None
        if not is_first and text in self._without:
            self._count("unlike_first_page")
            return None
        vector = self._cached.get(text)
        if vector is not None:
            self._cached.move_to_end(text)
            self._count("cached")
            return vector
        now = self._clock.seconds()
        waiting = self._waiting.get(text)
        is_new = waiting is None
        if waiting is None:
            if len(self._waiting) >= MAX_RUNNING:
                self._count("busy")
                return None
            if not self._circuit.allows(now):
                self._count("paused")
                return None
            waiting = self._waiting[text] = _Waiting(now)
        if (left := waiting.began + self._timeout - now) <= 0:
            self._count("late")
            return None
        answer: Deferred[bytes | None] = Deferred()
        waiting.answers.append(answer)
        if is_new:
            request = Deferred.fromCoroutine(self._ask(text))
            self._requests.add(request)
            request.addBoth(lambda _: self._requests.discard(request))
        try:
            vector = await answer.addTimeout(left, self._clock)
        except TimeoutError:
            self._count("late")
            return None
        self._count("failed" if vector is None else "used")
        return vector

    async def _ask(self, text: str) -> None:
        """Ask the endpoint for the vector of `text`, cache it and pass it to all searches that wait for it."""
        began, vector = self._clock.seconds(), None
        try:
            vector = await self._endpoint.query(text)
            if len(vector) != self._vectors.dimensions:
                vector = None
                raise EndpointFailed(f"It gave a vector of another length than {self._vectors.dimensions}.")
            _put(self._cached, text, vector)
            seconds = self._clock.seconds() - began
            self._observe(seconds)
            if seconds > self._timeout:
                raise EndpointFailed(f"It took longer than {self._timeout:g} seconds.")
            if self._circuit.succeed():
                self._log.info("Embeddings of queries are used again")
        except EndpointFailed as error:
            if self._circuit.fail(self._clock.seconds()):
                self._log.warn("Searches are ranked without embeddings for a while: {reason}", reason=error.message)
        except CancelledError:
            pass
        except Exception:
            self._circuit.fail(self._clock.seconds())
            self._log.failure("Unexpected error while reading the vector of a query")
        finally:
            for answer in self._waiting.pop(text).answers:
                answer.callback(vector)

    def _miss(self) -> None:
        self._count("missing")


def text_of_query(query: Query) -> str:
    """Return the text of a query that the model reads; empty if there is none that says what is meant."""
    text = topic(query.keywords)[:MAX_TEXT] if query.sort == "relevance" else ""
    # One word says too little of what is meant.
    return "" if text.isascii() and len(text.split()) < 2 else text


def _put(cache: OrderedDict[str, T], text: str, value: T) -> None:
    cache[text] = value
    cache.move_to_end(text)
    if len(cache) > CACHED:
        cache.popitem(last=False)


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

"""Metrics of one server, in a registry of its own: a process may contain several servers; and reactor lag."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from functools import cache

from attrs import frozen
from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, Summary
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from twisted.application.service import Service
from twisted.internet.interfaces import IDelayedCall, IReactorTime

from ...domain.changes import Change
from ...domain.ports.search import Index, Subscriber
from ...domain.upstreams import UpstreamState
from ...streams import Hub
from ..access_log import AccessRecord

LATENCIES = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Histogram buckets in seconds. Most requests take less than a millisecond."""


class Metrics:
    """Count events as they happen. `registry` reads the gauges that are registered at each scrape.

    `quota_errors` counts requests and tool calls that exceed the quota of their key, `lag` has the seconds by which the
    timer of the reactor lag was late, and `database` those from a statement on a connection to its answer.
    """

    def __init__(self) -> None:
        registry = self.registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        requests = Counter(
            "directory_requests", "Completed requests.", labelnames=["api", "method", "status"], registry=registry
        )
        seconds = Histogram(
            "directory_request_seconds",
            "Seconds from the first byte of a request to the end of its response; of a stream, to its start.",
            labelnames=["api"],
            buckets=LATENCIES,
            registry=registry,
        )
        self._errors = Counter(
            "directory_errors",
            "Errors in responses, by code. JSON-RPC and tool errors are in responses with status 200.",
            labelnames=["api", "code"],
            registry=registry,
        )
        # `labels` takes as long as the rest of a record.
        self._requests, self._seconds = cache(requests.labels), cache(seconds.labels)
        self.quota_errors = Counter(
            "directory_quota_exceeded", "Requests and tool calls that exceed the quota of their key.", registry=registry
        )
        self._builds = Summary(
            "directory_index_build_seconds",
            "Seconds to apply changes to the index, the initial load included.",
            registry=registry,
        )
        self.lag = Histogram(
            "directory_reactor_lag_seconds",
            "Seconds by which a timer that fires once a second was late.",
            buckets=LATENCIES,
            registry=registry,
        )
        self.database = Histogram(
            "directory_database_seconds",
            "Seconds from a statement to the answer of the shared database.",
            labelnames=["link"],
            buckets=LATENCIES,
            registry=registry,
        )

    def observe(self, records: Sequence[AccessRecord]) -> None:
        """Count completed requests."""
        for record in records:
            self._requests(record.route, record.method, record.status).inc()
            self._seconds(record.route).observe(record.seconds)
            for code in record.errors:
                self._errors.labels(record.route, code).inc()

    def builds(self, index: Subscriber, now: Callable[[], float]) -> Subscriber:
        """Return `index` with the duration of each `apply` measured by `now`, in seconds."""
        return _TimedSubscriber(index, now, self._builds.observe)


@frozen
class _TimedSubscriber:
    _subscriber: Subscriber
    _now: Callable[[], float]
    _observe: Callable[[float], None]

    async def apply(self, changes: Sequence[Change]) -> None:
        began = self._now()
        await self._subscriber.apply(changes)
        self._observe(self._now() - began)


@frozen(eq=False)
class Gauges(Collector):
    """Gauges of a process. `storage` returns whether each file is available."""

    _index: Index
    _streams: Hub
    _connections: Sized
    _upstreams: Callable[[], Sequence[UpstreamState]] = tuple
    _storage: Callable[[], Mapping[str, bool]] = dict

    def collect(self) -> Iterator[Metric]:
        yield GaugeMetricFamily("directory_index_entries", "Searchable entries.", len(self._index))
        yield GaugeMetricFamily(
            "directory_index_generation", "Number of times search results may have changed.", self._index.generation
        )
        yield GaugeMetricFamily("directory_streams", "Open streams.", len(self._streams))
        yield CounterMetricFamily(
            "directory_stream_cuts", "Streams cut because the client did not read them.", self._streams.cuts
        )
        yield GaugeMetricFamily("directory_connections", "Open connections, streams excluded.", len(self._connections))
        storage = GaugeMetricFamily(
            "directory_storage_available", "1 if the file is available, 0 otherwise.", labels=["file"]
        )
        for name, available in self._storage().items():
            storage.add_metric([name], float(available))
        yield storage
        failing = GaugeMetricFamily(
            "directory_upstream_failing", "1 if the latest sync run failed, 0 otherwise.", labels=["upstream"]
        )
        entries = GaugeMetricFamily("directory_upstream_entries", "Entries of the upstream.", labels=["upstream"])
        success = GaugeMetricFamily(
            "directory_upstream_last_success_timestamp_seconds",
            "Time of the latest successful sync run.",
            labels=["upstream"],
        )
        for upstream in self._upstreams():
            failing.add_metric([upstream.name], float(bool(upstream.error)))
            entries.add_metric([upstream.name], upstream.entries)
            success.add_metric([upstream.name], upstream.last_success or 0.0)
        yield from (failing, entries, success)


@frozen(eq=False)
class DatabaseGauges(Collector):
    """The state of the shared database, and the number of changes not yet applied."""

    _is_up: Callable[[], bool]
    _behind: Callable[[], int]

    def collect(self) -> Iterator[Metric]:
        yield GaugeMetricFamily(
            "directory_database_up", "1 if the shared database can be used, 0 otherwise.", float(self._is_up())
        )
        yield GaugeMetricFamily(
            "directory_log_behind", "Changes of the log that this process has not applied yet.", self._behind()
        )


INTERVAL = 1.0
"""Seconds between two measurements."""


class Lag(Service):
    """Measure once a second how many seconds late a timer fires, and pass the number to `observe`."""

    # Not a LoopingCall: it skips missed calls, and would then report no lag.

    def __init__(self, clock: IReactorTime, observe: Callable[[float], None]) -> None:
        self._clock = clock
        self._observe = observe
        self._next: IDelayedCall | None = None

    def startService(self) -> None:
        super().startService()
        self._schedule()

    def stopService(self) -> None:
        super().stopService()
        if self._next is not None:
            self._next.cancel()
            self._next = None

    def _schedule(self) -> None:
        self._due = self._clock.seconds() + INTERVAL
        self._next = self._clock.callLater(INTERVAL, self._measure)

    def _measure(self) -> None:
        lag = max(0.0, self._clock.seconds() - self._due)
        # First, so that an error of `observe` does not end the measurements.
        self._schedule()
        self._observe(lag)

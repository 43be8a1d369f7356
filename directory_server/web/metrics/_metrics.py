"""The metrics of one server, in a registry of their own: any number of servers may live in a process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from typing import Protocol

from attrs import frozen
from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, Summary
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from ...domain.changes import Change
from ...domain.errors import QuotaExceeded
from ...domain.ports.access import Quota
from ...domain.ports.search import Index, Subscriber
from ...domain.quota import Allowance
from ...domain.upstreams import UpstreamState
from ..access_log import AccessRecord

LATENCIES = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Seconds by which requests and delays are told apart; most requests take less than a millisecond."""


class Streams(Sized, Protocol):
    """What is asked of the streams."""

    @property
    def cuts(self) -> int:
        """How many were cut."""


class Metrics:
    """Counts what happens, and looks up what there is when it is asked."""

    def __init__(self) -> None:
        registry = self.registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._requests = Counter(
            "directory_requests", "Requests that were answered.", ["door", "method", "status"], registry=registry
        )
        self._seconds = Histogram(
            "directory_request_seconds",
            "From the first byte of a request to the end of its answer; of a stream, to its beginning.",
            ["door"],
            buckets=LATENCIES,
            registry=registry,
        )
        self._errors = Counter(
            "directory_errors",
            "Errors in answers, by their codes; those of JSON-RPC and of tools are in answers with status 200.",
            ["door", "code"],
            registry=registry,
        )
        self._refusals = Counter(
            "directory_quota_refusals", "Requests and tool calls over the quota of their key.", registry=registry
        )
        self._builds = Summary(
            "directory_index_build_seconds", "Taking changes into the index, the first load too.", registry=registry
        )
        self._lag = Histogram(
            "directory_reactor_lag_seconds",
            "How much too late a call of every second came.",
            buckets=LATENCIES,
            registry=registry,
        )
        self._counted: dict[tuple[str, str, int], tuple[Callable[[], None], Callable[[float], None]]] = {}

    def observe(self, exchange: AccessRecord) -> None:
        """Count a request."""
        labels = (exchange.route, exchange.method, exchange.status)
        counted = self._counted.get(labels)
        if counted is None:
            door, method, status = labels
            counter, histogram = self._requests.labels(door, method, str(status)), self._seconds.labels(door)
            counted = self._counted[labels] = counter.inc, histogram.observe
        count, time = counted
        count()
        time(exchange.seconds)
        for code in exchange.errors:
            self._errors.labels(exchange.route, code).inc()

    def late(self, seconds: float) -> None:
        """Count a call of every second that came so much too late."""
        self._lag.observe(seconds)

    def quota(self, quota: Quota) -> Quota:
        """Return `quota`, its refusals counted."""
        return _CountedQuota(quota, self._refusals.inc)

    def builds(self, index: Subscriber, now: Callable[[], float]) -> Subscriber:
        """Return `index`, its work timed by `now`, in seconds."""
        return _TimedSubscriber(index, now, self._builds.observe)

    def watch(
        self,
        index: Index,
        streams: Streams,
        connections: Sized,
        upstreams: Callable[[], Sequence[UpstreamState]] = tuple,
        storage: Callable[[], Mapping[str, bool]] = dict,
    ) -> None:
        """Look these up whenever somebody asks; `storage` returns whether each file can be used."""
        self.registry.register(_Watched(index, streams, connections, upstreams, storage))


@frozen
class _CountedQuota:
    _quota: Quota
    _count: Callable[[], None]

    async def charge(self, key_id: str, limit: int | None) -> Allowance:
        try:
            return await self._quota.charge(key_id, limit)
        except QuotaExceeded:
            self._count()
            raise

    async def peek(self, key_id: str, limit: int | None) -> Allowance:
        return await self._quota.peek(key_id, limit)

    async def last(self, key_id: str) -> float | None:
        return await self._quota.last(key_id)

    async def prune(self) -> None:
        await self._quota.prune()


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
class _Watched(Collector):
    _index: Index
    _streams: Streams
    _connections: Sized
    _upstreams: Callable[[], Sequence[UpstreamState]]
    _storage: Callable[[], Mapping[str, bool]]

    def collect(self) -> Iterator[Metric]:
        yield GaugeMetricFamily("directory_index_entries", "Entries that can be found.", len(self._index))
        yield GaugeMetricFamily(
            "directory_index_generation", "How often the answers may have changed.", self._index.generation
        )
        yield GaugeMetricFamily("directory_streams", "Streams that are open.", len(self._streams))
        yield CounterMetricFamily(
            "directory_stream_cuts", "Streams cut because their reader did not read.", self._streams.cuts
        )
        yield GaugeMetricFamily("directory_connections", "Connections, streams apart.", len(self._connections))
        storage = GaugeMetricFamily("directory_storage_available", "Whether a file can be used.", labels=["file"])
        for name, available in self._storage().items():
            storage.add_metric([name], float(available))
        yield storage
        failing = GaugeMetricFamily(
            "directory_upstream_failing", "Whether the latest round failed.", labels=["upstream"]
        )
        entries = GaugeMetricFamily("directory_upstream_entries", "Entries of the upstream.", labels=["upstream"])
        success = GaugeMetricFamily(
            "directory_upstream_last_success_timestamp_seconds", "When a round last succeeded.", labels=["upstream"]
        )
        for each in self._upstreams():
            failing.add_metric([each.name], float(bool(each.error)))
            entries.add_metric([each.name], each.entries)
            success.add_metric([each.name], each.last_success or 0.0)
        yield from (failing, entries, success)

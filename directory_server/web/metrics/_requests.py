"""Counters of requests: plain numbers, converted to Prometheus metrics at each scrape.

The counters of prometheus_client take a lock for each number, which costs more than the line in the access log.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from attrs import define
from prometheus_client.core import Metric
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from ..access_log import AccessRecord


@define
class _Count:
    """A number of events. `created` is when the first was counted, in seconds since the epoch."""

    created: float
    value: int = 0


@define
class _Histogram:
    """Seconds by bucket, not cumulative, and their sum."""

    created: float
    counts: list[int]
    sum: float = 0.0


class RequestMetrics(Collector):
    """Count requests by route, method and status, their seconds by route, and their errors by route and code.

    `buckets` are the upper bounds of the histogram in seconds, in ascending order. `now` returns seconds since the
    epoch.
    """

    def __init__(self, buckets: Sequence[float], now: Callable[[], float]) -> None:
        self._buckets = tuple(buckets)
        self._bounds = [floatToGoString(bound) for bound in (*buckets, float("inf"))]
        self._now = now
        self._requests: dict[tuple[str, str, int], _Count] = {}
        self._errors: dict[tuple[str, str], _Count] = {}
        self._seconds: dict[str, _Histogram] = {}

    def observe(self, records: Sequence[AccessRecord]) -> None:
        """Count completed requests."""
        # Reading each field by its name takes twice as long.
        for _, method, route, status, _, seconds, _, _, errors in records:
            labels = route, method, status
            requests = self._requests.get(labels)
            if requests is None:
                requests = self._requests[labels] = _Count(self._now())
            requests.value += 1
            histogram = self._seconds.get(route)
            if histogram is None:
                histogram = self._seconds[route] = _Histogram(self._now(), [0] * len(self._bounds))
            histogram.counts[bisect_left(self._buckets, seconds)] += 1
            histogram.sum += seconds
            for code in errors:
                if (route, code) not in self._errors:
                    self._errors[route, code] = _Count(self._now())
                self._errors[route, code].value += 1

    def collect(self) -> Iterator[Metric]:
        # A scrape runs in another thread, so it copies the dictionaries first.
        requests = Metric("directory_requests", "Completed requests.", "counter")
        for (api, method, status), count in self._requests.copy().items():
            _add_count(requests, {"api": api, "method": method, "status": str(status)}, count)
        yield requests
        seconds = Metric(
            "directory_request_seconds",
            "Seconds from the first byte of a request to the end of its response; of a stream, to its start.",
            "histogram",
        )
        for api, histogram in self._seconds.copy().items():
            totals = list(accumulate(histogram.counts))
            for bound, total in zip(self._bounds, totals, strict=True):
                seconds.add_sample("directory_request_seconds_bucket", {"api": api, "le": bound}, total)
            seconds.add_sample("directory_request_seconds_count", {"api": api}, totals[-1])
            seconds.add_sample("directory_request_seconds_sum", {"api": api}, histogram.sum)
            seconds.add_sample("directory_request_seconds_created", {"api": api}, histogram.created)
        yield seconds
        errors = Metric(
            "directory_errors",
            "Errors in responses, by code. JSON-RPC and tool errors are in responses with status 200.",
            "counter",
        )
        for (api, code), count in self._errors.copy().items():
            _add_count(errors, {"api": api, "code": code}, count)
        yield errors


def _add_count(metric: Metric, labels: dict[str, str], count: _Count) -> None:
    metric.add_sample(f"{metric.name}_total", labels, count.value)
    metric.add_sample(f"{metric.name}_created", labels, count.created)

"""Metrics of the checks of remotes and packages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from attrs import frozen
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from ...domain.checks import VerifiedStatus
from .checks import Checked
from .verifier import Verifier

DURATIONS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
"""Histogram buckets in seconds."""


class CheckMetrics:
    """Counts checks of remotes and packages."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry
        self._checks = Counter(
            "directory_checks", "Checks of remotes and packages.", labelnames=["kind", "status"], registry=registry
        )
        self._seconds = Histogram(
            "directory_check_seconds",
            "Seconds that a check takes.",
            labelnames=["kind"],
            buckets=DURATIONS,
            registry=registry,
        )

    def observe(self, checked: Checked) -> None:
        """Count a check."""
        self._checks.labels(checked.target.kind, checked.check.status).inc()
        self._seconds.labels(checked.target.kind).observe(checked.seconds)

    def watch(self, entries: Callable[[], Mapping[VerifiedStatus, int]], running: Verifier | None) -> None:
        """Read the number of entries with each status at each scrape, and that of checks, if the server checks."""
        self._registry.register(_Gauges(entries, running))


@frozen(eq=False)
class _Gauges(Collector):
    _entries: Callable[[], Mapping[VerifiedStatus, int]]
    _running: Verifier | None

    def collect(self) -> Iterator[Metric]:
        entries = GaugeMetricFamily(
            "directory_verified_entries", "Entries by the status of their checks.", labels=["status"]
        )
        counts = self._entries()
        for status in VerifiedStatus:
            entries.add_metric([status], counts.get(status, 0))
        yield entries
        if self._running is not None:
            yield GaugeMetricFamily("directory_checks_running", "Checks that run.", len(self._running))
            yield GaugeMetricFamily("directory_checks_due", "Remotes and packages that are due.", self._running.due)

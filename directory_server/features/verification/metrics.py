"""Metrics of the checks of remotes and packages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

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
        statuses = Gauge(
            "directory_verified_entries", "Entries by the status of their checks.", ["status"], registry=self._registry
        )
        for status in VerifiedStatus:
            statuses.labels(status).set_function(partial(_count, entries, status))
        if running is not None:
            checks = Gauge("directory_checks_running", "Checks that run.", registry=self._registry)
            checks.set_function(lambda: len(running))
            due = Gauge("directory_checks_due", "Remotes and packages that are due.", registry=self._registry)
            due.set_function(lambda: running.due)


def _count(entries: Callable[[], Mapping[VerifiedStatus, int]], status: VerifiedStatus) -> int:
    return entries().get(status, 0)

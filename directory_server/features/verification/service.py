"""Verification: the checks of remotes and packages, and the summaries that requests read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from ...config import Config
from ...domain.checks import VerifiedStatus
from ...domain.patterns import NamePatterns
from ...domain.ports.additions import ADDITIONS
from ...domain.ports.runtime import Offload
from ...domain.ports.search import SUBSCRIBERS
from ...feature.server import LOADS, SERVICES, Server
from ...runtime.timers import Timer
from ...services.follower import Follower
from ...tables import Storage
from ...web.operator_requests import OVERVIEW_PARTS, OverviewPart
from ...web.pages import ENTRY_PARTS
from .checks import Checked, Checks
from .settings import VerifyConfig
from .tables import verifications_of
from .targets import TargetKind
from .verified_entries import REFRESH_INTERVAL, VerifiedEntries
from .verifier import Verifier, target_planner
from .web import EntryChecks

if TYPE_CHECKING:
    from .network import Checkers


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


CHECKERS = "verification.checkers"
"""The name of the network side among the parts that tests replace."""


def run(server: Server) -> None:
    """Add the checks that the settings select, and what requests read of checks."""
    settings, verified = server.config.of(VerifyConfig), VerifiedEntries(verifications_of(server.storage))
    metrics = CheckMetrics(server.metrics)
    verifier = _verifier(server, settings, metrics)
    metrics.watch(lambda: verified.counts, verifier)
    refresh = Timer(REFRESH_INTERVAL, verified.refresh, server.reactor)
    server.add(SERVICES, refresh, *([] if verifier is None else [verifier]))

    async def counts() -> Mapping[str, object]:
        return {status: verified.counts[status] for status in VerifiedStatus if verified.counts.get(status)}

    server.add(OVERVIEW_PARTS, OverviewPart("verification/overview.html", counts))
    server.add(SUBSCRIBERS, verified)
    server.add(LOADS, verified.refresh)
    server.add(ADDITIONS, verified)
    server.add(ENTRY_PARTS, EntryChecks(verified, settings.remotes or settings.packages).part())


def _verifier(server: Server, settings: VerifyConfig, metrics: CheckMetrics) -> Verifier | None:
    """Return the service that checks; None if the settings select nothing."""
    selected = {TargetKind.REMOTE: settings.remotes, TargetKind.PACKAGE: settings.packages}
    kinds = [kind for kind, is_selected in selected.items() if is_selected]
    if not kinds:
        return None
    holder = token_hex(8)
    observers: list[Callable[[Checked], None]] = [metrics.observe]

    def observe(checked: Checked) -> None:
        for observer in observers:
            observer(checked)
        if checked.is_change:
            server.bus.announce()

    checks = checks_of(server.config, server.storage, _checkers(server), server.reactor, server.now, observe)
    planner = planner_of(server.config, server.storage, server.offload, server.reactor)
    verifications = verifications_of(server.storage)
    verifier = Verifier(planner, checks, verifications, holder, kinds, server.reactor, server.storage.work)
    observers.append(verifier.observe)
    return verifier


def _checkers(server: Server) -> Checkers:
    if CHECKERS in server.replaced:
        replaced: Checkers = server.replaced[CHECKERS]
        return replaced
    # The HTTP client takes 3 MB and .1 seconds.
    from .network import network_checkers

    return network_checkers(server.config, server.reactor, server.now)


def planner_of(config: Config, storage: Storage, offload: Offload, clock: Any) -> Follower:
    """Return what derives the remotes and packages to check."""
    settings = config.of(VerifyConfig)
    patterns = NamePatterns(settings.include, settings.exclude)
    return target_planner(storage, verifications_of(storage), patterns, offload, clock)


def checks_of(
    config: Config,
    storage: Storage,
    checkers: Checkers,
    reactor: Any,
    now: Callable[[], float],
    observe: Callable[[Checked], None],
) -> Checks:
    """Return the checks of a process within the limits of `config`; `observe` gets each check."""
    return Checks(verifications_of(storage), checkers, reactor, now, config.of(VerifyConfig), observe)

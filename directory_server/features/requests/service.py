"""Requests in a server: their expiry, their metric, and e-mails about them."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Gauge

from ...domain.ports.requests import KINDS, MAIL
from ...domain.requests import STATES
from ...feature.server import SERVICES, Server
from ...runtime.timers import Timer
from ...tables import Requests
from .mail import mailer_of
from .settings import RequestsConfig

UPKEEP = 600.0
"""Seconds between two looks for old requests."""

MEASURE = 60.0
"""Seconds between two counts of requests."""


def states_gauge(registry: CollectorRegistry) -> Gauge:
    """Return the metric of requests by kind and state."""
    return Gauge(
        "directory_decision_requests",
        "Stored requests on which somebody decides, by kind and state.",
        ["kind", "state"],
        registry=registry,
    )


def run(server: Server) -> None:
    """Add what ends old requests, counts all, and sends e-mails."""
    settings, waiting, tables = server.config.of(RequestsConfig), states_gauge(server.metrics), server.storage
    kinds, mailer = tuple(server.all(KINDS)), mailer_of(settings, server.reactor, server.now)
    requests, url = Requests(tables.background_tables, kinds), server.config.web.url.rstrip("/")
    pages = {kind.name: kind.page for kind in kinds}

    def send(address: str, subject: str, path: str) -> None:
        mailer.send(address, subject, f"{subject}.\n\n{url}{path}\n")

    async def measure() -> None:
        for kind in kinds:
            counts = await Requests(tables.background_tables, (kind,)).count_states()
            for state in STATES:
                waiting.labels(kind.name, state).set(counts.get(state, 0))

    async def expire() -> None:
        now = server.now()
        for request in await requests.expire(now - settings.age, now):
            if request.account and mailer.sends:
                listed = await tables.people.roster.account(request.account)
                if listed is not None and listed.account.disabled_at is None:
                    send(listed.account.email, "Your request has expired without a decision", pages[request.kind])

    server.add(SERVICES, Timer(UPKEEP, expire, server.reactor), Timer(MEASURE, measure, server.reactor))
    if mailer.sends:
        server.set(MAIL, send)

"""Lists in a server: the scopes of requests, and the keeper of the entries of lists."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Gauge

from ...domain.ports.access import SCOPES
from ...feature.server import SERVICES, Server
from ...search import percolate
from ...timers import Timer
from .approvers import Approvers
from .keeper import Keeper
from .notices import mails_of
from .request_tables import ListRequests
from .requests import STATES
from .scopes import ReaderScopes
from .settings import ListsConfig
from .tables import Lists

UPKEEP = 600.0
"""Seconds between two looks for old requests."""


MEASURE = 60.0
"""Seconds between two counts of requests."""


def states_gauge(registry: CollectorRegistry) -> Gauge:
    """Return the metric of requests by state."""
    return Gauge("directory_list_requests", "Stored requests for entries by state.", ["state"], registry=registry)


def run(server: Server) -> None:
    """Add what decides the scopes of requests, and what keeps the entries of lists."""
    storage = server.storage
    requests = ListRequests(storage.background_tables)
    settings = server.config.of(ListsConfig)
    approvers = Approvers(storage.background_tables, storage)
    mails = mails_of(server.config, storage, approvers, server.reactor, server.now)
    keeper = Keeper(
        lists=Lists(storage.background_tables),
        matching=percolate,
        offload=server.offload,
        requests=requests,
        tell=mails.tell_waiting,
        now=server.now,
    )
    waiting = states_gauge(server.metrics)

    async def measure() -> None:
        counts = await requests.count_states()
        for state in STATES:
            waiting.labels(state).set(counts.get(state, 0))

    async def forget() -> None:
        now = server.now()
        await requests.forget(now - settings.request_age, now)

    server.add(
        SERVICES,
        keeper.follower(storage, server.reactor, server.bus.announce),
        Timer(UPKEEP, forget, server.reactor),
        Timer(MEASURE, measure, server.reactor),
    )
    server.set(SCOPES, ReaderScopes(storage.tables, server.now))

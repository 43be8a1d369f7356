"""Lists in a server: the scopes of requests, and the keeper of the entries of lists."""

from __future__ import annotations

from ...feature import Host, Running
from ...leases import Lease, LeasedTimer
from ...search import percolate
from ...timers import Timer
from .keeper import INTERVAL, LEASE, LEASE_NAME, Keeper
from .request_tables import ListRequests
from .scopes import ReaderScopes
from .settings import ListsConfig
from .tables import Lists

UPKEEP = 600.0
"""Seconds between two looks for old requests."""


def running(host: Host) -> Running:
    """Return what decides the scopes of requests, and what keeps the entries of lists."""
    storage = host.storage
    requests = ListRequests(storage.background_tables)
    lease = Lease(storage.mirrors, LEASE_NAME, LEASE)
    keeper = Keeper(
        lists=Lists(storage.background_tables),
        store=storage.store,
        lease=lease,
        matching=percolate,
        offload=host.offload,
        announce=host.bus.announce,
        requests=requests,
        now=host.now,
    )
    age = host.config.of(ListsConfig).request_age

    async def forget() -> None:
        now = host.now()
        await requests.forget(now - age, now)

    return Running(
        services=[
            LeasedTimer(INTERVAL, keeper.update, host.reactor, lease),
            Timer(UPKEEP, forget, host.reactor),
        ],
        scopes=ReaderScopes(storage.tables),
    )

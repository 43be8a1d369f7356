"""Lists in a server: the scopes of requests, and the keeper of the entries of lists."""

from __future__ import annotations

from ...feature import Host, Running
from ...leases import Lease, LeasedTimer
from ...search import percolate
from .keeper import INTERVAL, LEASE, LEASE_NAME, Keeper
from .scopes import ReaderScopes
from .tables import Lists


def running(host: Host) -> Running:
    """Return what decides the scopes of requests, and what keeps the entries of lists."""
    storage = host.storage
    lease = Lease(storage.mirrors, LEASE_NAME, LEASE)
    keeper = Keeper(
        lists=Lists(storage.background_tables),
        store=storage.store,
        lease=lease,
        matching=percolate,
        offload=host.offload,
        announce=host.bus.announce,
    )
    return Running(
        services=[LeasedTimer(INTERVAL, keeper.update, host.reactor, lease)],
        scopes=ReaderScopes(storage.tables),
    )

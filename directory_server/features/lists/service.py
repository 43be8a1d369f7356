"""Lists in a server: the scopes of requests, and the keeper of the entries of lists."""

from __future__ import annotations

from secrets import token_hex

from ...feature import Host, Running
from ...search import percolate
from ...timers import Timer
from .keeper import INTERVAL, Keeper
from .scopes import ReaderScopes
from .tables import Lists


def running(host: Host) -> Running:
    """Return what decides the scopes of requests, and what keeps the entries of lists."""
    storage = host.storage
    keeper = Keeper(
        lists=Lists(storage.background_tables),
        store=storage.store,
        leases=storage.mirrors,
        matching=percolate,
        offload=host.offload,
        announce=host.bus.announce,
        holder=token_hex(8),
    )
    return Running(
        services=[Timer(INTERVAL, keeper.update, host.reactor, finish=keeper.release)],
        scopes=ReaderScopes(storage.tables),
    )

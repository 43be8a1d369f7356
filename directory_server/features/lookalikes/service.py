"""Look-alikes in a server: the tracker, the flags in memory, and the check of names that are published."""

from __future__ import annotations

from ...feature import Host, Running
from ...timers import Lease, LeasedTimer
from .check import NameCheck
from .flagged import Flagged
from .settings import LookalikesConfig
from .tracker import INTERVAL, LEASE, LEASE_NAME, Tracker


def running(host: Host) -> Running:
    """Return what finds look-alikes, and what requests read of them."""
    settings, storage = host.config.of(LookalikesConfig), host.storage
    flagged, lease = Flagged(storage.background_tables), Lease(storage.mirrors, LEASE_NAME, LEASE)
    tracker = Tracker(
        store=storage.store,
        lease=lease,
        tables=storage.background_tables,
        offload=host.offload,
        now=host.now,
        announce=host.bus.announce,
        allowed=settings.allow,
    )

    async def update_lookalikes() -> None:
        try:
            await tracker.update()
        finally:
            await flagged.refresh()

    check = NameCheck(storage.store, storage.background_tables, host.offload, settings.allow)
    return Running(
        services=[LeasedTimer(INTERVAL, update_lookalikes, host.reactor, lease)],
        load=flagged.refresh,
        additions=flagged,
        check_published=check,
    )

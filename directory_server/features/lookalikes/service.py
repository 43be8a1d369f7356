"""Look-alikes in a server: the tracker, the flags in memory, and the check of names that are published."""

from __future__ import annotations

from secrets import token_hex

from twisted.internet.interfaces import IReactorTime

from ...feature import Host, Running
from ...timers import Timer
from .check import NameCheck
from .flagged import Flagged
from .settings import LookalikesConfig
from .tracker import INTERVAL, Tracker


class LookalikeService(Timer):
    """Finds look-alikes and reads their flags; releases its lease at the end."""

    def __init__(self, tracker: Tracker, flagged: Flagged, clock: IReactorTime) -> None:
        super().__init__(INTERVAL, self._update, clock, finish=tracker.release)
        self._tracker = tracker
        self._flagged = flagged

    async def _update(self) -> None:
        await self._tracker.update()
        await self._flagged.refresh()


def running(host: Host) -> Running:
    """Return what finds look-alikes, and what requests read of them."""
    settings, storage = host.config.of(LookalikesConfig), host.storage
    if not settings.enabled:
        return Running()
    flagged = Flagged(storage.background_tables)
    tracker = Tracker(
        store=storage.store,
        leases=storage.mirrors,
        tables=storage.background_tables,
        offload=host.offload,
        now=host.now,
        announce=host.bus.announce,
        allowed=settings.allow,
        holder=token_hex(8),
    )
    check = NameCheck(storage.store, storage.background_tables, host.offload, settings.allow)
    return Running(
        services=[LookalikeService(tracker, flagged, host.reactor)],
        load=flagged.refresh,
        additions=flagged,
        check_published=check,
    )

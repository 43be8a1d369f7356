"""Look-alikes in a server: the tracker, the flags in memory, and the check of names that are published."""

from __future__ import annotations

from secrets import token_hex

from twisted.application.service import Service
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime

from ...feature import Host, Running
from ...timers import Timer
from .check import NameCheck
from .flagged import Flagged
from .settings import LookalikesConfig
from .tracker import INTERVAL, Tracker


class LookalikeService(Service):
    """Finds look-alikes and reads their flags; releases its lease at the end."""

    def __init__(self, tracker: Tracker, flagged: Flagged, clock: IReactorTime) -> None:
        self._tracker = tracker
        self._flagged = flagged
        self._timer = Timer(INTERVAL, self._update, clock)

    async def _update(self) -> None:
        await self._tracker.update()
        await self._flagged.refresh()

    def startService(self) -> None:
        super().startService()
        self._timer.startService()

    def stopService(self) -> Deferred[None]:
        super().stopService()
        return Deferred.fromCoroutine(self._stop())

    async def _stop(self) -> None:
        if (ended := self._timer.stopService()) is not None:
            await ended
        await self._tracker.release()


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

"""Look-alikes in a server: the tracker, the flags in memory, and the check of names that are published."""

from __future__ import annotations

from ...feature import Host, Running
from ...timers import Timer
from .check import NameCheck
from .flagged import Flagged
from .settings import LookalikesConfig
from .tracker import INTERVAL, Tracker


def running(host: Host) -> Running:
    """Return what finds look-alikes, and what requests read of them."""
    settings, storage = host.config.of(LookalikesConfig), host.storage
    flagged = Flagged(storage.background_tables)
    tracker = Tracker(storage.background_tables, host.offload, host.now, settings.allow, flagged.refresh)
    check = NameCheck(storage.store, storage.background_tables, host.offload, settings.allow)
    return Running(
        services=[
            tracker.follower(storage, host.reactor, host.bus.announce),
            # Another process may have written flags.
            Timer(INTERVAL, flagged.refresh, host.reactor),
        ],
        load=flagged.refresh,
        additions=flagged,
        check_published=check,
    )

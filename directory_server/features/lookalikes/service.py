"""Look-alikes in a server: the tracker, the flags in memory, and the check of names that are published."""

from __future__ import annotations

from ...domain.ports.additions import ADDITIONS, PUBLISHED_CHECKS, PublishedCheck
from ...feature.server import LOADS, SERVICES, Server
from ...timers import Timer
from .check import NameCheck
from .flagged import Flagged
from .settings import LookalikesConfig
from .tracker import INTERVAL, Tracker


def run(server: Server) -> None:
    """Add what finds look-alikes, and what requests read of them."""
    settings, storage = server.config.of(LookalikesConfig), server.storage
    flagged = Flagged(storage.background_tables)
    tracker = Tracker(storage.background_tables, server.offload, server.now, settings.allow, flagged.refresh)
    check: PublishedCheck = NameCheck(storage.store, storage.background_tables, server.offload, settings.allow)
    server.add(
        SERVICES,
        tracker.follower(storage, server.reactor, server.bus.announce),
        # Another process may have written flags.
        Timer(INTERVAL, flagged.refresh, server.reactor),
    )
    server.add(LOADS, flagged.refresh)
    server.add(ADDITIONS, flagged)
    server.add(PUBLISHED_CHECKS, check)

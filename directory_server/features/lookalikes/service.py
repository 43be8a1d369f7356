"""Look-alikes in a server: the tracker, the flags in views of entries, and the check of names that are published."""

from __future__ import annotations

from ...domain.ports.additions import ADDITIONS, PUBLISHED_CHECKS, PublishedCheck
from ...feature.server import SERVICES, Server
from .check import NameCheck
from .flagged import Flagged
from .settings import LookalikesConfig
from .tracker import Tracker


def run(server: Server) -> None:
    """Add what finds look-alikes, and what requests read of them."""
    settings, storage = server.config.of(LookalikesConfig), server.storage
    tracker = Tracker(storage.background_tables, server.offload, server.now, settings.allow)
    check: PublishedCheck = NameCheck(storage.store, storage.background_tables, server.offload, settings.allow)
    server.add(SERVICES, tracker.follower(storage, server.reactor, server.bus.announce))
    server.add(ADDITIONS, Flagged(server.notes))
    server.add(PUBLISHED_CHECKS, check)

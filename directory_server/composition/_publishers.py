"""Publishers: the parts that send changes of entries to open streams."""

from __future__ import annotations

from attrs import asdict, frozen

from .. import streams
from ..config import Config
from ..runtime.run_sync import run_until_done
from ..search import percolate
from ..web import changes, mcp, pages
from ._core import Core

SETTLING = 0.5
"""Seconds from a change to its announcement with several machines: a client may list the entries at another one, which
learns of the change within 250 ms.
"""


@frozen
class Publishers:
    """The hubs of open streams, and the parts that publish to them.

    Keys own the streams of `hub`; the streams of `page_hub` belong to anonymous readers of pages.
    """

    hub: streams.Hub
    page_hub: streams.Hub
    broadcaster: changes.Broadcaster
    announcements: mcp.Announcements
    newest: mcp.NewestEntries


def build_publishers(core: Core, sockets: int) -> Publishers:
    """Return the publishers. Streams take at most three quarters of the `sockets`; the others are for requests."""
    server, runtime = core.server, core.runtime
    config, storage = server.config, server.storage
    total = max_streams(config, sockets)
    keyed = {**asdict(config.streams), "total": total}
    anonymous = {**keyed, "per_key": runtime.page_streams, "total": min(config.web.streams, total // 10)}
    hub = streams.Hub(storage.people.keys, server.bus, server.reactor, runtime.new_random(), **keyed)
    page_hub = streams.Hub(pages.AnonymousOwners(), server.bus, server.reactor, runtime.new_random(), **anonymous)
    log_id = run_until_done(storage.store.log_id(), lambda: server.reactor)
    log_pages = changes.LogPages(storage.store, percolate, runtime.offload, log_id)
    return Publishers(
        hub=hub,
        page_hub=page_hub,
        broadcaster=changes.Broadcaster(hub, log_pages, percolate, runtime.offload, log_id),
        announcements=mcp.Announcements(hub, server.reactor, SETTLING if storage.is_shared else 0.0),
        newest=mcp.NewestEntries(storage.store),
    )


def max_streams(config: Config, sockets: int) -> int:
    """Return how many streams may be open at a time, out of `sockets` client connections."""
    return min(config.streams.total, sockets * 3 // 4)

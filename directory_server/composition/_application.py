"""The application: all parts of a server, created and connected, not started."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar

from attrs import asdict, define, frozen
from twisted.application import strports
from twisted.application.service import IService
from twisted.logger import Logger

from .. import http
from ..config import Config, endpoints
from ..domain.accounts import REGISTRATION
from ..domain.errors import Unavailable
from ..domain.ports.search import SUBSCRIBERS, Announcer
from ..domain.upstreams import UpstreamState
from ..feature.server import LOADS, SERVICES, WRITES, Server
from ..runtime.timers import Timer
from ..services.accounts import UnusedAccounts
from ..services.feed import Feed
from ..services.index_keeper import INTERVAL, IndexKeeper
from ..storage import Storage
from ..tables import Registrations
from ..web import metrics
from ..web.access_log import AccessRecorder
from ..web.key_uses import FLUSH_INTERVAL, FORGET_INTERVAL
from ..web.origins import Origins
from ..web.pages import Layout
from ..web.routing import Routes
from ..web.site import MetricsSite
from ._core import Core, Runtime, Search, build_core, machine_runtime
from ._people import People, build_people
from ._publishers import Publishers, build_publishers
from ._web import Web, build_web, loopback_hosts

if TYPE_CHECKING:
    from ..mirror import UpstreamService

BEHIND_INTERVAL = 5.0
"""Seconds between two looks whether a wake-up of the feed was lost."""

UNUSED_INTERVAL = 600.0
"""Seconds between two searches for unused accounts, and for registered ones without a request."""

LATE = 86_400.0
"""Seconds after its registration in which an account without a request gets one."""


@define
class Readiness:
    """Whether the process should receive requests."""

    _feed: Feed
    _storage: Storage
    draining: bool = False
    """Whether the process is stopping."""
    is_preloaded: bool = True
    """Whether the first search waits for nothing that is loaded once."""

    def obstacles(self) -> list[str]:
        """Return the reasons why the process should receive no requests."""
        obstacles = {
            "index": not (self._feed.loaded and self.is_preloaded),
            # Without a shared database no machine is better than another, and pages and streams still work.
            "storage": not (self._storage.is_shared or all(self._storage.control.available().values())),
            "draining": self.draining,
        }
        return [name for name, is_present in obstacles.items() if is_present]


@frozen
class Application:
    """All parts of a server.

    Its services are in stages, which start in this order and stop one after the other in the reverse order. `bus` is
    the change bus with the links to a shared database. `background` are the feed, periodic tasks and upstreams.
    `clients` are streams, connections and the metrics endpoint. `ports` listen for clients.
    """

    storage: Storage
    search: Search
    publishers: Publishers
    people: People
    web: Web
    server: Server
    feed: Feed
    readiness: Readiness
    bus: IService
    background: tuple[IService, ...]
    clients: tuple[IService, ...]
    ports: tuple[IService, ...]
    runtime: Runtime
    metrics: metrics.Metrics
    _log: ClassVar = Logger()

    async def load(self) -> None:
        """Load the index, and what features read before the first request."""
        await self.storage.curation.resolve()
        await self.feed.load()
        await self.server.notes.load()
        if not await self.people.first.exists():
            # A link that signs in would be in the log.
            self._log.info(
                "There is no account. To create the first operator, use: "
                "directory-server account add --role operator you@example.org"
            )
        for load in self.server.all(LOADS):
            # Timers of the feature read it again.
            with suppress(Unavailable):
                await load()

    async def write_counts(self) -> None:
        """Write the access log, the uses of keys and what features have counted since their last writes."""
        self.web.log.recorder.flush()
        for write in self.server.all(WRITES):
            await write()
        await self.web.key_uses.flush()

    def close(self) -> None:
        """Close what all services use until they have stopped: the threads and the databases."""
        self.runtime.stop()
        self.storage.close()


def build(
    config: Config,
    reactor: Any,
    *,
    sockets: int,
    lost: Callable[[str], None],
    runtime: Runtime | None = None,
) -> Application:
    """Return the application for `config`; it opens the databases, and starts and binds nothing.

    At most `sockets` client connections may be open. `lost` is called with the reason when the data directory or the
    database was deleted or replaced. Raises Unavailable.
    """
    core = build_core(config, reactor, runtime or machine_runtime(reactor), lost)
    storage, search, now = core.server.storage, core.search, core.runtime.now
    publishers = build_publishers(core, sockets)
    people = build_people(core, publishers)
    # An entry shows what is in searches: what is known of entries is applied just before the index.
    known = core.server.notes, *core.server.all(SUBSCRIBERS)
    subscribers = [*known, core.metrics.builds(search.index, reactor.seconds), publishers.newest]
    announcers: list[Announcer] = [publishers.broadcaster, publishers.announcements, people.pages.notifier]
    feed = Feed(storage.store, core.serving.bus, subscribers, announcers, reactor, search.keeper)
    readiness = Readiness(feed, storage)
    upstreams = _upstreams(core)

    def states() -> list[UpstreamState]:
        return [upstream.state for upstream in upstreams]

    web = build_web(core, publishers, people, sockets, readiness.obstacles, upstreams)
    register = core.metrics.registry.register
    register(metrics.Gauges(search.index, publishers.hub, web.connections, states, storage.control.available))
    if (head := core.serving.head) is not None:
        register(
            metrics.DatabaseGauges(lambda: storage.control.away_since() is None, lambda: max(head() - feed.seq, 0))
        )
    registrations = Registrations(storage.background_tables, (REGISTRATION,))
    unused = UnusedAccounts(storage.people.accounts, storage.people.quota, now, config.accounts.unused)
    return Application(
        storage,
        search,
        publishers,
        people,
        web,
        core.server,
        feed,
        readiness,
        bus=core.serving.bus_service,
        background=(
            feed,
            *_catch_up(feed, core.serving.head, reactor),
            *core.serving.services,
            Timer(UNUSED_INTERVAL, unused.remove, reactor),
            Timer(UNUSED_INTERVAL, lambda: registrations.add_missing(now() - LATE, now()), reactor),
            *_index_file(search.keeper, feed, reactor),
            Timer(FLUSH_INTERVAL, web.key_uses.flush, reactor),
            Timer(FORGET_INTERVAL, web.key_uses.forget, reactor),
            *core.server.all(SERVICES),
            *upstreams,
            metrics.Lag(core.server.reactor, core.metrics.lag.observe),
        ),
        clients=(publishers.hub, publishers.page_hub, web.connections, *_metrics_endpoint(core, people.pages.layout)),
        ports=_ports(config, reactor, web),
        runtime=core.runtime,
        metrics=core.metrics,
    )


def _upstreams(core: Core) -> list[UpstreamService]:
    if not core.server.config.upstream:
        return []
    # The HTTP client takes 3 MB and .1 seconds.
    from .. import mirror

    server, runtime = core.server, core.runtime
    following = mirror.mirror(
        server.reactor,
        server.directory.publish,
        server.storage.mirrors,
        server.storage.work,
        runtime.offload,
        runtime.now,
        os.environ,
        server.trace,
    )
    return [
        mirror.UpstreamService(following, mirror.Upstream(**asdict(settings)), server.reactor, runtime.now)
        for settings in server.config.upstream
    ]


def _catch_up(feed: Feed, head: Callable[[], int] | None, reactor: Any) -> list[IService]:
    """Return the regular look whether the feed is behind the `head` of a log that other machines write, too."""
    return [] if head is None else [Timer(BEHIND_INTERVAL, lambda: feed.wake_if_behind(head()), reactor)]


def _index_file(keeper: IndexKeeper | None, feed: Feed, reactor: Any) -> list[IService]:
    """Return the regular check of the file of the index, if it has one."""
    return [] if keeper is None else [Timer(INTERVAL, lambda: keeper.check(feed.seq), reactor)]


def _metrics_endpoint(core: Core, layout: Layout) -> list[IService]:
    """Return the connections and the port of the metrics endpoint, if one is configured."""
    listen = core.server.config.metrics.listen
    if not listen:
        return []
    connections = http.Connections(
        core.server.reactor,
        core.server.proxies,
        limit=metrics.CONNECTIONS,
        per_address=metrics.CONNECTIONS,
        grace=core.server.config.streams.grace,
        queued=core.server.config.http.queued,
        sockets=metrics.CONNECTIONS,
        at_end=core.runtime.turn.at_end,
    )
    limits, hosts = core.server.config.http, loopback_hosts(core.server.config, [listen])
    # Names of the public endpoints do not restrict a listener in a private network.
    origins = Origins(hosts and hosts.union(limits.allowed_hosts), frozenset(limits.allowed_origins))
    handlers = metrics.MetricsHandlers(core.metrics, core.runtime.offload)
    routes = Routes([handlers.app], layout)
    # Without an access log: a scraper sends a request every few seconds.
    access = AccessRecorder(core.runtime.now, [], core.runtime.turn)
    site = MetricsSite(routes, origins, connections, access, core.server.reactor)
    return [connections, _port(listen, site, core.server.reactor)]


def _ports(config: Config, reactor: Any, web: Web) -> tuple[IService, ...]:
    """Return a service for each endpoint to listen on."""
    sharing: Any = http.ReusePortReactor(reactor) if config.reuse_port else reactor
    return tuple(_port(endpoints.with_backlog(description), web.site, sharing) for description in config.listen)


def _port(description: str, site: Any, reactor: Any) -> IService:
    """Return the service that listens on an endpoint."""
    port = strports.service(description, site, reactor=reactor)
    port.endpoint = http.PreparedEndpoint(port.endpoint)
    return port

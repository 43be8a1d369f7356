"""Web: accounts and pages, the site with all its routes, the connections and the access log."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from attrs import frozen

from .. import http
from ..config import Config, endpoints
from ..domain.ports.audit import TRAIL
from ..domain.upstreams import UpstreamState
from ..feature.parts import NUMBERS, UPSTREAMS, Upstream
from ..feature.server import FAULTS
from ..runtime.run_sync import run_until_done
from ..search import percolate
from ..texts import hosts
from ..web import (
    access_file,
    access_log,
    authentication,
    changes,
    health,
    mcp,
    pages,
    registry,
    rest,
    routes,
    routing,
)
from ..web.audit import Auditor
from ..web.key_uses import KeyUseRecorder
from ..web.openapi import document
from ..web.operator_requests import OperatorRequests
from ..web.origins import Origins
from ..web.routes import App
from ..web.site import DirectorySite
from ..web.throttling import AddressLimiter
from ._core import Core
from ._features import web_parts
from ._people import People, account_pages
from ._publishers import Publishers


@frozen
class Web:
    """The site, its connections, and the access log."""

    site: DirectorySite
    connections: http.Connections
    log: AccessLogging
    key_uses: KeyUseRecorder


def build_web(
    core: Core,
    publishers: Publishers,
    people: People,
    sockets: int,
    obstacles: Callable[[], Sequence[str]],
    upstreams: Sequence[Upstream],
) -> Web:
    """Return the site. `obstacles` returns why the process is not ready; /readyz lists these reasons."""
    limits = core.server.config.http

    def states() -> list[UpstreamState]:
        return [upstream.state for upstream in upstreams]

    connections = http.Connections(
        core.server.reactor,
        core.server.proxies,
        limit=limits.connections,
        per_address=limits.per_address,
        grace=core.server.config.streams.grace,
        queued=limits.queued,
        sockets=sockets,
        at_end=core.runtime.turn.at_end,
        streams=lambda: publishers.hub.sockets + publishers.page_hub.sockets,
    )
    server, storage = core.server, core.server.storage
    away_since = storage.control.away_since if storage.is_shared else None
    key_uses = KeyUseRecorder(storage.people.key_uses, server.proxies, server.now, server.config.keys.last_use)
    _complete(core, publishers, people, connections, key_uses, upstreams)
    checks = health.Health(
        core.search.index,
        obstacles,
        limits.health == "full",
        states,
        away_since,
        server.all(health.ISSUERS),
        hides_counts=server.catalogue.scopes is not None,
        faults=server.all(FAULTS),
    )
    apps = [checks.app, *_apps(core, publishers, people)]
    trail = server.get(TRAIL)
    auditor = None if trail is None else Auditor(trail, server.proxies, server.now)
    table = routing.Routes(apps, people.pages.layout, auditor, server.trace)
    log = build_access_log(core)
    allowed_hosts = frozenset(limits.allowed_hosts) or loopback_hosts(server.config, server.config.listen)
    origins = Origins(allowed_hosts, frozenset(limits.allowed_origins))
    site = DirectorySite(
        table, origins, connections, log.recorder, server.reactor, has_lists=server.catalogue.scopes is not None
    )
    return Web(site, connections, log, key_uses)


def _apps(core: Core, publishers: Publishers, people: People) -> list[App]:
    """Return the applications of the APIs, of the pages, and of features."""
    server, hub = core.server, publishers.hub
    config, storage, catalogue, authenticator = server.config, server.storage, server.catalogue, server.authenticator
    readers = server.all(registry.REGISTRY_READERS)
    sessions = mcp.McpSessions(run_until_done(storage.control.session_secret(), lambda: server.reactor))
    announced = publishers.newest, sessions, hub, publishers.announcements
    endpoint = mcp.endpoint(authenticator, catalogue, *announced, search_tools=config.mcp.search_tools)
    handlers = (
        routing.CommonHandlers(people.pages.layout, server.openapi, server.get(routes.OAUTH_HINT)),
        rest.RestHandlers(authenticator, catalogue, server.offload, server.now),
        changes.ChangesHandler(
            authenticator, catalogue, storage.store, percolate, server.offload, hub, publishers.broadcaster
        ),
        endpoint,
        registry.RegistryHandlers(
            server.registry_access, catalogue, config.registry.listed == "curated", server.offload
        ),
        registry.RegistryStatus(server.registry_access, next((reader.login_hint for reader in readers), "")),
        people.pages,
        _search_page(core, people),
        pages.PublisherPage(
            people.pages.layout,
            people.pages.access,
            catalogue,
            server,
            server.notes,
            config.registry.access == "public",
            server.now,
        ),
        _entry_page(core, people),
    )
    accounts = account_pages(core, people, endpoint)
    return [*(handler.app for handler in handlers), *accounts, *server.all(routes.APPS)]


def _search_page(core: Core, people: People) -> pages.SearchPage:
    return pages.SearchPage(
        people.pages.layout,
        people.pages.access,
        core.search.catalogue,
        lambda: core.search.index.generation,
        core.runtime.now,
        core.server,
        core.server.config.registry.access == "public",
    )


def _entry_page(core: Core, people: People) -> pages.EntryPage:
    return pages.EntryPage(
        people.pages.layout,
        people.pages.access,
        core.search.catalogue,
        pages.Readmes(core.runtime.offload, core.runtime.monotonic, time.thread_time),
        core.server,
        core.server.config.registry.access == "public",
        pages.SimilarServers(lambda: core.search.index.generation),
        core.runtime.now,
    )


def _complete(
    core: Core,
    publishers: Publishers,
    people: People,
    connections: http.Connections,
    key_uses: KeyUseRecorder,
    upstreams: Sequence[Upstream],
) -> None:
    """Add the parts that handlers use to the server, then the handlers of features."""
    server, parts = core.server, web_parts()
    server.layout, server.access = people.pages.layout, people.pages.access
    server.operators = OperatorRequests(people.cookies, people.pages.layout)
    server.openapi = document(tuple(part.openapi for part in parts))
    server.failed_keys = _limiter(core, server.config.http.failed_keys)
    server.registry_reads = _limiter(core, server.config.registry.per_minute)
    server.authenticator = authentication.Authenticator(
        server.storage.people.keys,
        server.trace("charge", server.storage.people.quota),
        server.failed_keys,
        key_uses,
        core.metrics.quota_errors.inc,
        authentication.admission(server.reactor),
        server.get(authentication.ACCESS_TOKENS),
        server.catalogue.scopes,
    )
    server.registry_access = registry.RegistryAccess(
        mode=server.config.registry.access,
        authenticator=server.authenticator,
        tokens=server.storage.people.registry_tokens,
        reads=server.registry_reads,
        failures=server.failed_keys,
        readers=server.all(registry.REGISTRY_READERS),
        scopes=server.catalogue.scopes,
    )

    def numbers() -> dict[str, int]:
        return {
            "entries": len(core.search.index),
            "streams": len(publishers.hub),
            "page_streams": len(publishers.page_hub),
            "connections": len(connections),
        }

    server.set(NUMBERS, numbers)
    server.add(UPSTREAMS, *upstreams)
    for part in parts:
        part.serve(server)


def _limiter(core: Core, per_minute: int) -> AddressLimiter:
    return AddressLimiter(core.server.proxies, core.server.reactor.seconds, rate=per_minute / 60, burst=per_minute)


@frozen
class AccessLogging:
    """Records finished requests; `reopen` opens the log file again after a rotation."""

    recorder: access_log.AccessRecorder
    reopen: Callable[[], None] = lambda: None


def build_access_log(core: Core) -> AccessLogging:
    """Return the recorder of requests: metrics always, log lines unless log.access is off."""
    config = core.server.config.log
    observers: list[access_log.Observer] = [core.metrics.observe, *core.server.all(access_log.OBSERVERS)]
    # The reactor's clock is monotonic and does not show the time of day.
    recorder = access_log.AccessRecorder(core.runtime.now, observers, core.runtime.turn)
    if config.access == "off":
        return AccessLogging(recorder)
    # The server log has a prefix before each line, which is no JSON.
    is_bare = config.access == "json" and access_file.has_standard_output()
    path = Path(config.access_file) if config.access_file else access_file.STANDARD_OUTPUT if is_bare else None
    file = None if path is None else access_file.AccessFile(path)
    observers.append(access_log.AccessLog(config.access, file.logger if file else None))
    return AccessLogging(recorder, file.reopen) if file else AccessLogging(recorder)


_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})


def loopback_hosts(config: Config, listen: Sequence[str]) -> frozenset[str]:
    """Return the hosts that requests name if all endpoints in `listen` are on loopback; otherwise an empty set."""
    read = [*map(endpoints.read, listen)]
    if not all(endpoint.is_loopback for endpoint in read):
        return frozenset()
    names = _LOOPBACK_NAMES.union(endpoint.host for endpoint in read)
    # DNS rebinding: a page in a browser must not reach a private server by a name that it resolves to loopback. The
    # name in web.url is not under control of others, and a proxy on this machine passes it on.
    try:
        return names | {hosts.of(config.web.url).name}
    except ValueError:
        # It is not set, or is no name that a client sends.
        return names

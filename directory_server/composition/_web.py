"""Web: accounts and pages, the site with all its routes, the connections and the access log."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from attrs import frozen

from .. import hosts, http
from ..config import Config, endpoints
from ..domain.upstreams import UpstreamState
from ..run_sync import run_until_done
from ..search import percolate
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
    routing,
)
from ..web.audit import Auditor
from ..web.key_uses import KeyUseRecorder
from ..web.openapi import document
from ..web.operator_requests import OperatorRequests
from ..web.origins import Origins
from ..web.parts import Endpoints, Kernel, Upstream
from ..web.routes import App
from ..web.site import DirectorySite
from ..web.throttling import AddressLimiter
from ._core import Core
from ._features import first, web_parts
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
    limits = core.config.http

    def states() -> list[UpstreamState]:
        return [upstream.state for upstream in upstreams]

    connections = http.Connections(
        core.reactor,
        core.proxies,
        limit=limits.connections,
        per_address=limits.per_address,
        grace=core.config.streams.grace,
        queued=limits.queued,
        sockets=sockets,
        at_end=core.runtime.turn.at_end,
        streams=lambda: publishers.hub.sockets + publishers.page_hub.sockets,
    )
    away_since = core.storage.away_since if core.storage.is_shared else None
    key_uses = KeyUseRecorder(core.storage.key_uses, core.proxies, core.runtime.now, core.config.keys.last_use)
    readers: list[registry.RegistryReaders] = []
    kernel = _kernel(core, publishers, people, connections, key_uses, upstreams, readers)
    endpoints = [part.serve(kernel) for part in web_parts()]
    readers += [reader for served in endpoints for reader in served.registry_readers]
    tokens = first(feature.access_tokens for feature in core.running)
    issuers = [issuer for served in endpoints for issuer in served.issuers]
    issuers += () if tokens is None else tokens.issuers
    checks = health.Health(
        core.search.index,
        obstacles,
        limits.health == "full",
        states,
        away_since,
        issuers,
        hides_counts=core.search.catalogue.scopes is not None,
        faults=[feature.faults for feature in core.running],
    )
    apps = [checks.app, *_apps(core, publishers, people, kernel, endpoints)]
    trail = first(feature.trail for feature in core.running)
    auditor = None if trail is None else Auditor(trail, core.proxies, core.runtime.now)
    routes = routing.Routes(apps, people.pages.layout, auditor, core.trace)
    log = build_access_log(core)
    allowed_hosts = frozenset(limits.allowed_hosts) or loopback_hosts(core.config, core.config.listen)
    origins = Origins(allowed_hosts, frozenset(limits.allowed_origins))
    site = DirectorySite(
        routes, origins, connections, log.recorder, core.reactor, has_lists=core.search.catalogue.scopes is not None
    )
    return Web(site, connections, log, key_uses)


def _apps(
    core: Core,
    publishers: Publishers,
    people: People,
    kernel: Kernel,
    endpoints: Sequence[Endpoints],
) -> list[App]:
    """Return the applications of the APIs, of the pages, and of the `endpoints` of features."""
    config, storage, catalogue = core.config, core.storage, core.search.catalogue
    hub, offload, authenticator = publishers.hub, core.runtime.offload, kernel.authenticator
    access, readers = kernel.registry_access, kernel.registry_access.readers
    sessions = mcp.McpSessions(run_until_done(storage.session_secret(), lambda: core.reactor))
    announced = publishers.newest, sessions, hub, publishers.announcements
    endpoint = mcp.endpoint(authenticator, catalogue, *announced, search_tools=config.mcp.search_tools)
    hint = first(served.oauth_hint or None for served in endpoints) or ""
    handlers = (
        routing.CommonHandlers(people.pages.layout, kernel.openapi, hint),
        rest.RestHandlers(authenticator, catalogue, offload, core.runtime.now),
        changes.ChangesHandler(
            authenticator, catalogue, storage.store, percolate, offload, hub, publishers.broadcaster
        ),
        endpoint,
        registry.RegistryHandlers(access, catalogue, config.registry.listed == "curated", offload),
        registry.RegistryStatus(access, next((reader.login_hint for reader in readers), "")),
        people.pages,
        _search_page(core, people),
        _entry_page(core, people, endpoints),
        pages.PublisherPage(
            people.pages.layout,
            people.pages.access,
            catalogue,
            _entry_parts(core),
            config.registry.access == "public",
            core.runtime.now,
        ),
    )
    accounts = account_pages(core, people, endpoint, kernel.key_parts, endpoints)
    return [*(handler.app for handler in handlers), *accounts, *(app for served in endpoints for app in served.apps)]


def _search_page(core: Core, people: People) -> pages.SearchPage:
    """Return the search page."""
    return pages.SearchPage(
        people.pages.layout,
        people.pages.access,
        core.search.catalogue,
        lambda: core.search.index.generation,
        core.runtime.now,
        _entry_parts(core),
        core.config.registry.access == "public",
    )


def _entry_page(core: Core, people: People, endpoints: Sequence[Endpoints]) -> pages.EntryPage:
    """Return the page of an entry."""
    return pages.EntryPage(
        people.pages.layout,
        people.pages.access,
        core.search.catalogue,
        pages.Readmes(core.runtime.offload, core.runtime.monotonic, time.thread_time),
        [bar for served in endpoints for bar in served.entry_bars],
        [link for served in endpoints for link in served.entry_links],
        _entry_parts(core),
        core.config.registry.access == "public",
        pages.SimilarServers(lambda: core.search.index.generation),
        core.runtime.now,
    )


def _entry_parts(core: Core) -> Sequence[pages.EntryPart]:
    """Return what features show of entries on pages."""
    return [feature.entry_part for feature in core.running if feature.entry_part is not None]


def _kernel(
    core: Core,
    publishers: Publishers,
    people: People,
    connections: http.Connections,
    key_uses: KeyUseRecorder,
    upstreams: Sequence[Upstream],
    readers: Sequence[registry.RegistryReaders],
) -> Kernel:
    """Return the parts that features use. `readers` of the registry API may be added later."""
    parts, storage = web_parts(), core.storage
    failed_keys = _limiter(core, core.config.http.failed_keys)
    registry_reads = _limiter(core, core.config.registry.per_minute)
    authenticator = authentication.Authenticator(
        storage.keys,
        core.trace("charge", storage.quota),
        failed_keys,
        key_uses,
        core.metrics.quota_errors.inc,
        authentication.admission(core.reactor),
        first(feature.access_tokens for feature in core.running),
        core.search.catalogue.scopes,
    )

    def numbers() -> dict[str, int]:
        return {
            "entries": len(core.search.index),
            "streams": len(publishers.hub),
            "page_streams": len(publishers.page_hub),
            "connections": len(connections),
        }

    return Kernel(
        config=core.config,
        authenticator=authenticator,
        replaced=core.runtime.replaced,
        trace=core.trace,
        storage=storage,
        catalogue=core.search.catalogue,
        directory=core.search.directory,
        proxies=core.proxies,
        reactor=core.reactor,
        now=core.runtime.now,
        offload=core.runtime.offload,
        layout=people.pages.layout,
        access=people.pages.access,
        operators=OperatorRequests(people.cookies, people.pages.layout),
        failed_keys=failed_keys,
        registry_reads=registry_reads,
        registry_access=registry.RegistryAccess(
            mode=core.config.registry.access,
            authenticator=authenticator,
            tokens=storage.registry_tokens,
            reads=registry_reads,
            failures=failed_keys,
            readers=readers,
            scopes=core.search.catalogue.scopes,
        ),
        public_paths=lambda: [path for part in parts for path in part.public_paths()],
        openapi=document(tuple(part.openapi for part in parts)),
        bus=core.serving.bus,
        numbers=numbers,
        upstreams=upstreams,
        notices=[notice for part in parts for notice in part.notices],
        key_parts=[key_part for part in parts for key_part in part.key_parts],
        robots=[part.robots(core.config) for part in parts],
    )


def _limiter(core: Core, per_minute: int) -> AddressLimiter:
    return AddressLimiter(core.proxies, core.reactor.seconds, rate=per_minute / 60, burst=per_minute)


@frozen
class AccessLogging:
    """Records finished requests; `reopen` opens the log file again after a rotation."""

    recorder: access_log.AccessRecorder
    reopen: Callable[[], None] = lambda: None


def build_access_log(core: Core) -> AccessLogging:
    """Return the recorder of requests: metrics always, log lines unless log.access is off."""
    config = core.config.log
    observers: list[access_log.Observer] = [core.metrics.observe, *(feature.observe for feature in core.running)]
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

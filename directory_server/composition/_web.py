"""Web: the site with all its routes, the connections and the access log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from .. import http
from ..config import Config, endpoints
from ..domain.upstreams import UpstreamState
from ..http.proxies import Proxies
from ..search import percolate
from ..web import access_file, access_log, authentication, changes, health, mcp, metrics, registry, rest, routing
from ..web.origins import Origins
from ..web.rate_limit import AddressLimiter
from ..web.site import DirectorySite
from ._people import People, account_pages
from ._publishers import Publishers
from ._runtime import Runtime
from ._search import Search
from ._storage import Storage

_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})


@frozen
class Web:
    """The site, its connections, and the access log."""

    site: DirectorySite
    connections: http.Connections
    log: AccessLogging


@frozen
class AccessLogging:
    """Records finished requests; `flush` writes pending lines, `reopen` opens the log file again after a rotation."""

    recorder: access_log.AccessRecorder
    flush: Callable[[], None] = lambda: None
    reopen: Callable[[], None] = lambda: None


def build_web(
    config: Config,
    reactor: Any,
    runtime: Runtime,
    storage: Storage,
    search: Search,
    publishers: Publishers,
    people: People,
    proxies: Proxies,
    meter: metrics.Metrics,
    sockets: int,
    obstacles: Callable[[], Sequence[str]],
    upstream_states: Callable[[], Sequence[UpstreamState]],
) -> Web:
    """Return the site. `obstacles` returns why the process is not ready; /readyz lists these reasons."""
    limits = config.http
    connections = http.Connections(
        reactor,
        proxies,
        limit=limits.connections,
        per_address=limits.per_address,
        grace=config.streams.grace,
        queued=limits.queued,
        sockets=sockets,
        streams=lambda: publishers.hub.sockets + publishers.page_hub.sockets,
    )
    checks = health.Health(search.index, obstacles, limits.health == "full", upstream_states)
    routes = _routes(config, reactor, runtime, storage, search, publishers, people, proxies, meter, checks)
    log = _access_log(config, reactor, runtime, meter)
    origins = Origins(_hosts(config), frozenset(limits.allowed_origins))
    return Web(DirectorySite(routes, origins, connections, log.recorder, reactor), connections, log)


def _routes(
    config: Config,
    reactor: Any,
    runtime: Runtime,
    storage: Storage,
    search: Search,
    publishers: Publishers,
    people: People,
    proxies: Proxies,
    meter: metrics.Metrics,
    checks: health.Health,
) -> routing.Routes:
    directory, hub, offload = search.directory, publishers.hub, runtime.offload
    failed_keys, registry_reads = config.http.failed_keys, config.registry.per_minute
    failures = AddressLimiter(proxies, reactor.seconds, rate=failed_keys / 60, burst=failed_keys)
    reads = AddressLimiter(proxies, reactor.seconds, rate=registry_reads / 60, burst=registry_reads)
    authenticator = authentication.Authenticator(storage.keys, meter.quota(storage.quota), failures)
    access = registry.RegistryAccess(config.registry.access, authenticator, storage.registry_tokens, reads, failures)
    sessions = mcp.McpSessions(storage.data.session_secret())
    endpoint = mcp.endpoint(authenticator, directory, publishers.newest, sessions, hub, publishers.announcements)
    return routing.Routes(
        rest.RestHandlers(authenticator, directory, offload),
        changes.ChangesHandler(authenticator, storage.store, percolate, offload, hub, publishers.broadcaster),
        endpoint,
        registry.RegistryHandlers(access, directory, storage.store, config.registry.listed == "curated"),
        checks,
        people.pages,
        account_pages(config, runtime, storage, people, endpoint, proxies),
    )


def _access_log(config: Config, reactor: Any, runtime: Runtime, meter: metrics.Metrics) -> AccessLogging:
    """Return the recorder of requests: metrics always, log lines unless log.access is off."""
    if config.log.access == "off":
        return AccessLogging(access_log.AccessRecorder(reactor.seconds, [meter.observe]))
    file = access_file.AccessFile(Path(config.log.access_file)) if config.log.access_file else None
    lines = access_log.AccessLog(config.log.access, runtime.log_clock, file.logger if file else None)
    recorder = access_log.AccessRecorder(reactor.seconds, [meter.observe, lines])
    return AccessLogging(recorder, lines.flush, file.reopen) if file else AccessLogging(recorder, lines.flush)


def _hosts(config: Config) -> frozenset[str]:
    """Return the allowed values of the Host header; empty if any is allowed."""
    if config.http.allowed_hosts or not all(endpoints.read(each).is_loopback for each in config.listen):
        return frozenset(config.http.allowed_hosts)
    # DNS rebinding: a page in a browser must not reach a private server by a name that it resolves to loopback.
    return _LOOPBACK_NAMES

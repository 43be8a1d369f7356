"""The whole server: the one place where the parts are put together."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, NoReturn

from attrs import asdict
from twisted.application import strports
from twisted.application.internet import TimerService
from twisted.application.service import IService, MultiService
from twisted.internet.defer import Deferred
from twisted.internet.error import CannotListenError
from twisted.logger import Logger

from . import mirror, process, sqlite, systemd, threads
from .config import Config, endpoints
from .domain.errors import Unavailable
from .domain.ports.search import Follower
from .domain.upstreams import UpstreamState
from .machine import machine_time
from .passwords import Argon2Passwords
from .process import GaveUp as GaveUp
from .run_sync import run_sync
from .search import ImpactIndex, TextAnalysis, percolate
from .services.accounts import AccountService
from .services.directory import Directory
from .services.feed import Feed
from .services.unused_accounts import UnusedAccounts
from .services.user_keys import Pending, UserKeys

PRUNE = 1.0
"""Seconds between two rounds of forgetting quota that has come back."""

UNUSED = 600.0
"""Seconds between two searches for unused accounts."""

_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})


class DirectoryService(MultiService):
    """The whole server.

    It is put together when it starts, not before: twistd forks in between, and neither open databases nor threads
    outlive that. The ports are bound first, so that a taken one is known at once; connections then wait in the
    kernel's backlog until the index is loaded, and no request ever meets a server that is not ready. Ports that are
    shared are bound last: until then connections go to the others.
    """

    _log = Logger()

    def __init__(self, config: Config, reactor: Any, terminal: process.Terminal | None = None) -> None:
        super().__init__()
        self._terminal = terminal
        self._config = config
        self._reactor = reactor
        self._shared_ports: list[IService] = []
        self._draining = False
        self._flush: Callable[[], None] = lambda: None
        self._reopen: Callable[[], None] = lambda: None

    def privilegedStartService(self) -> None:
        process.tune_allocator(os.environ)
        with self._giving_up():
            for part in self._parts():
                part.setServiceParent(self)
            super().privilegedStartService()

    def startService(self) -> None:
        with self._giving_up():
            run_sync(self._feed.load())
            self._data.serve(self._reactor)
            process.tune()
            for port in self._shared_ports:
                port.setServiceParent(self)
            super().startService()
        # Not before signals are handled, or one that comes at once would end the process in its own way.
        self._reactor.callWhenRunning(self._tell)
        if self._terminal is not None:
            self._terminal.close()

    def stopService(self) -> Deferred[None]:
        self._draining = True
        stopped: Deferred[None] = super().stopService()
        return stopped.addBoth(lambda _: self._end())

    def _end(self) -> None:
        """Let go of what all the others use until they have stopped: a pump that is under way reads and writes."""
        self._flush()
        self._writes.stop()
        self._data.close()

    def _not_ready_reasons(self) -> list[str]:
        """Return why this process should get no requests."""
        reasons = {
            "index": not self._feed.loaded,
            "storage": bool(self._data.availability.faults),
            "draining": self._draining,
        }
        return [name for name, applies in reasons.items() if applies]

    def _lost(self, reason: str) -> None:
        """Stop a process whose data directory is not there any more; its exit code is 1."""
        self._log.critical("The data directory is lost, the server stops: {reason}", reason=reason)
        process.fail_at_exit()
        self._reactor.stop()

    def _tell(self) -> None:
        self._log.info("Serving {entries} entries", entries=len(self._index))
        process.handle_signals(self._reactor, self._reopen)
        systemd.ready(os.environ)

    @contextmanager
    def _giving_up(self) -> Iterator[None]:
        """End the process where something keeps it from starting."""
        try:
            yield
        except CannotListenError as error:
            self._give_up(f"Cannot listen on {error.interface or '*'}:{error.port}: {error.socketError}.")
        except (OSError, OverflowError) as error:
            places = " or ".join(filter(None, [*self._config.listen, self._config.metrics.listen]))
            self._give_up(f"Cannot listen on {places}: {str(error).rstrip('.')}.")
        except Unavailable as error:
            self._give_up(f"Cannot serve {self._config.data_dir.absolute()}: {error}")

    def _give_up(self, reason: str) -> NoReturn:
        self._log.critical("{reason}", reason=reason)
        written = self._terminal is not None and self._terminal.write_line(reason)
        raise GaveUp("the line above says why" if written else reason)

    def _parts(self) -> Iterator[IService]:
        # Importing Klein installs the reactor, so nothing of the web is imported before twistd has chosen one.
        from . import http, streams
        from .http.proxies import Proxies
        from .web import (
            access_file,
            access_log,
            account,
            authentication,
            changes,
            health,
            mcp,
            metrics,
            pages,
            registry,
            rest,
            routing,
        )
        from .web.origins import Origins
        from .web.rate_limit import AddressLimiter
        from .web.site import DirectorySite

        config, reactor = self._config, self._reactor
        files = process.raise_file_limit()
        sockets = process.client_sockets(files)
        # The others are for requests.
        total = min(config.streams.total, sockets * 3 // 4)
        self._log.info(
            "{files:,} files may be open: {sockets:,} connections, {total:,} of them streams; "
            "{rest:,} are kept for databases and logs",
            files=files,
            sockets=sockets,
            total=total,
            rest=files - sockets,
        )
        now = sqlite.anchored(time.time, time.monotonic)
        offload = threads.Offload(reactor)
        data = self._data = sqlite.DataDirectory(config.data_dir, synchronous=config.quota.synchronous)
        sources = {each.name: sqlite.SourceLimits(each.max_entries, each.max_bytes) for each in config.upstream}
        store = sqlite.SqliteStore(data.directory, offload, TextAnalysis(), list(sources), sources, time.monotonic)
        # Writes of members may wait for a lock or a disk, and then must not keep others from the reactor's threads.
        writes = self._writes = sqlite.Threads(reactor, most=2, waiting=100)
        keys = sqlite.SqliteKeyRing(data.directory, now, writes)
        quota = sqlite.SqliteQuota(data.quota, sqlite.quota_clock(data.quota, machine_time()), wall=time.time)
        meter = metrics.Metrics()
        bus = sqlite.DataVersionBus(data.directory, reactor)
        index = self._index = ImpactIndex(offload)
        limits = config.http
        proxies = Proxies(limits.trusted_proxies)
        hub = streams.Hub(keys, bus, reactor, Random(), **{**asdict(config.streams), "total": total})
        directory = Directory(store, index, bus)
        newest = mcp.NewestEntries(directory)
        log = run_sync(store.log_id())
        live = changes.Broadcaster(hub, changes.LogPages(directory, percolate, offload, log), percolate, offload, log)
        announcements = mcp.Announcements(hub, reactor)
        people, web = config.accounts, config.web
        accounts = sqlite.SqliteAccounts(data.directory, now, writes)
        membership = AccountService(
            accounts,
            sqlite.SqliteSessions(data.directory, now, people.idle, people.absolute, writes),
            Argon2Passwords(offload),
            people.pending_total,
        )
        cookies = account.session_cookies(membership, proxies, people.absolute)
        bounds = {"per_key": pages.STREAMS, "total": min(web.streams, total // 10)}
        visits = streams.Hub(pages.AnonymousOwners(), bus, reactor, Random(), **{**asdict(config.streams), **bounds})
        front = pages.front(
            directory,
            index.__len__,
            visits,
            proxies,
            reactor.seconds,
            web.search,
            web.per_minute,
            viewer=cookies.account,
            sign_in=account.SIGN_IN,
            hsts=web.hsts,
        )
        followers: list[Follower] = [live, announcements, front.news]
        self._feed = Feed(store, bus, [meter.builds(index, reactor.seconds), newest], followers, reactor)
        mirrors = sqlite.SqliteMirrors(data.directory, offload)
        follows = mirror.mirror(reactor, directory.publish, mirrors, offload, now, os.environ)
        upstreams = [
            mirror.UpstreamService(follows, mirror.Upstream(**asdict(each)), reactor, now) for each in config.upstream
        ]

        def states() -> list[UpstreamState]:
            return [upstream.state for upstream in upstreams]

        failures = AddressLimiter(proxies, reactor.seconds, rate=limits.failed_keys / 60, burst=limits.failed_keys)
        entrance = authentication.Authenticator(keys, meter.quota(quota), failures)
        reads = AddressLimiter(
            proxies, reactor.seconds, rate=config.registry.per_minute / 60, burst=config.registry.per_minute
        )
        tokens = sqlite.SqliteRegistryTokens(data.directory, now)
        browsing = registry.RegistryAccess(config.registry.access, entrance, tokens, reads, failures)
        endpoint = mcp.endpoint(entrance, directory, newest, mcp.McpSessions(data.session_secret()), hub, announcements)
        secrets = sqlite.SqliteNewSecrets(data.directory, now, offload)
        pending = Pending(people.pending_keys, people.unused)
        own_keys = UserKeys(keys, quota, secrets, config.quota.limit, people.keys, config.keys.grace, pending)
        registration = account.RegistrationPolicy(people.registration == "open", people.per_address, people.per_network)
        people_pages = account.account_pages(
            front.frame, cookies, membership, own_keys, endpoint, proxies, now, url=web.url, registration=registration
        )
        tree = routing.Routes(
            rest.RestHandlers(entrance, directory, offload),
            changes.ChangesHandler(entrance, directory, percolate, offload, hub, live),
            endpoint,
            registry.RegistryHandlers(browsing, directory, config.registry.listed == "curated"),
            health.Health(index, self._not_ready_reasons, limits.health == "full", states),
            front,
            people_pages,
        )
        origins = Origins(_hosts(config), frozenset(config.http.allowed_origins))
        connections = http.Connections(
            reactor,
            proxies,
            limit=limits.connections,
            per_address=limits.per_address,
            grace=config.streams.grace,
            queued=limits.queued,
            sockets=sockets,
            streams=lambda: hub.sockets + visits.sockets,
        )
        observers: list[access_log.Observer] = [meter.observe]
        if config.log.access != "off":
            file = access_file.AccessFile(Path(config.log.access_file)) if config.log.access_file else None
            lines = access_log.AccessLog(config.log.access, reactor, file.logger if file else None)
            self._reopen = file.reopen if file else self._reopen
            self._flush = lines.flush
            observers.append(lines)
        accesses = access_log.AccessRecorder(reactor.seconds, observers)
        door = DirectorySite(tree, origins, connections, accesses, reactor)
        meter.watch(index, hub, connections, states, data.available)
        yield sqlite.StorageWatch(data, offload, reactor, self._lost)
        yield from (bus, self._feed, hub, visits, TimerService(PRUNE, quota.prune), connections)
        yield TimerService(UNUSED, UnusedAccounts(accounts, quota, now, people.unused).remove)
        yield from upstreams
        yield metrics.Lag(reactor, meter.observe_lag)
        if config.metrics.listen:
            yield strports.service(config.metrics.listen, metrics.site(meter), reactor=reactor)
        ports: Any = http.ReusePortReactor(reactor) if config.reuse_port else reactor
        for description in config.listen:
            port = strports.service(endpoints.with_backlog(description), door, reactor=ports)
            port.endpoint = http.ImmediateWriteEndpoint(port.endpoint)
            if config.reuse_port:
                self._shared_ports.append(port)
            else:
                yield port


def _hosts(config: Config) -> frozenset[str]:
    """Return the names to answer to; none means any."""
    if config.http.allowed_hosts or not all(endpoints.read(each).is_loopback for each in config.listen):
        return frozenset(config.http.allowed_hosts)
    # A page in somebody's browser must not reach a private server by a name that it points to loopback.
    return _LOOPBACK_NAMES

"""A whole server in memory: real adapters on a temporary folder, a Clock for time, bytes in and bytes out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from http.client import HTTPMessage, HTTPResponse
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest
from attrs import field, frozen
from twisted.internet.address import IPv4Address
from twisted.internet.error import ConnectionDone
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure

from directory_server import sqlite
from directory_server.domain.entries import Entry, mcp_id_of
from directory_server.run_sync import inline, run_sync
from directory_server.search import ImpactIndex, TextAnalysis, percolate
from directory_server.services.accounts import AccountService
from directory_server.services.directory import Directory
from directory_server.services.feed import Feed
from directory_server.services.user_keys import Pending, UserKeys

PROTOCOL_HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


TIMES: Any = {"total": 1_000, "heartbeat": 15, "rotation": 600, "stall": 30, "grace": 10}
"""How the streams of the server under test are served, unless a test has others."""


@frozen
class Answer:
    """A response, read."""

    status: int
    headers: HTTPMessage
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Connection:
    """A connection to the server, of which both ends are here."""

    def __init__(self, site: Any, address: str = "127.0.0.1") -> None:
        self.transport = cast(Any, StringTransport(peerAddress=IPv4Address("TCP", address, 50_000)))
        # As real transports do, this one lets another protocol take its place.
        self.transport.protocol = site.buildProtocol(self.transport.getPeer())
        self.transport.protocol.makeConnection(self.transport)

    def send(self, raw: bytes) -> None:
        self.transport.protocol.dataReceived(raw)

    def received(self) -> bytes:
        """Return, and forget, what the server has sent."""
        sent: bytes = self.transport.value()
        self.transport.clear()
        return sent

    def lose(self) -> None:
        """Have the connection gone, as when the other side leaves."""
        self.transport.protocol.connectionLost(Failure(ConnectionDone()))


class AtOnce:
    """A clock for which the next turn has come."""

    def callLater(self, delay: float, call: Callable[[], None]) -> None:
        assert delay == 0
        call()


@frozen
class Plain:
    """Passwords that are quick to hash, and a note of those that were verified."""

    verified: list[str] = field(factory=list)

    async def hash(self, password: str, *, client: str = "") -> str:
        return f"hash of {password}"

    async def verify(self, hashed: str | None, password: str, *, client: str = "") -> bool:
        self.verified.append(password)
        return hashed == f"hash of {password}"


@frozen
class Server:
    """The server under test, and what a test may turn."""

    clock: Clock
    folder: Path
    directory: Directory
    keys: sqlite.SqliteKeyRing
    hub: Any
    accounts: sqlite.SqliteAccounts
    passwords: Plain
    database: sqlite.Database
    site: Any
    key: str
    key_id: str

    def open(
        self,
        method: str,
        path: str,
        *,
        key: str | None = "",
        headers: dict[str, str] | None = None,
        body: bytes = b"",
        address: str = "127.0.0.1",
    ) -> Connection:
        """Send a request, by default with the server's key, and return the connection."""
        head = {"Host": "localhost", **({} if key is None else {"Authorization": f"Bearer {key or self.key}"})}
        if body:
            head["Content-Length"] = str(len(body))
        head.update(headers or {})
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in head.items()), "", ""]
        connection = Connection(self.site, address)
        connection.send("\r\n".join(lines).encode("latin-1") + body)
        return connection

    def ask(self, method: str, path: str, **more: Any) -> Answer:
        """Send a request and return the answer, which must be complete at once."""
        connection = self.open(method, path, **more)
        answer = read(connection.received(), method)
        connection.lose()
        return answer

    def get(self, path: str, **more: Any) -> Answer:
        return self.ask("GET", path, **more)

    def post(self, message: Any, *, headers: dict[str, str] | None = None, **more: Any) -> Answer:
        """Post a message to the MCP endpoint."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        return self.ask("POST", "/api/open/mcp", body=body, headers={**PROTOCOL_HEADERS, **(headers or {})}, **more)

    def call(self, tool: str, arguments: Any, **more: Any) -> Any:
        """Call a tool as a client of the initialize era; return the result."""
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        return self.post(message, **more).json["result"]

    def new_key(self, *, limit: int | None = 20, expires_at: float | None = None) -> tuple[str, str]:
        """Make another key; return its id and its secret."""
        key, secret = run_sync(self.keys.create("another", limit=limit, expires_at=expires_at))
        return key.id, secret

    def publish(self, *entries: Entry) -> None:
        """Publish entries; the index follows at once."""
        run_sync(self.directory.publish("local", entries))


def read(raw: bytes, method: str = "GET") -> Answer:
    """Return the response that `raw` holds."""

    class Socket:
        def makefile(self, _: str) -> BytesIO:
            return BytesIO(raw)

    response = HTTPResponse(cast(Any, Socket()), method=method)
    response.begin()
    return Answer(response.status, response.msg, response.read())


def entry(name: str, description: str = "A server.", **more: Any) -> Entry:
    return Entry({"name": name, "description": description, "version": "1.0.0", **more})


POSTGRES = entry(
    "io.github.example/postgres-mcp",
    "Query a Postgres database.",
    title="Postgres",
    repository={"url": "https://github.com/example/postgres-mcp", "source": "github"},
)
MAIL = entry("io.github.example/mail", "Read and send mail.", websiteUrl="https://mail.example.org")
POSTGRES_ID = mcp_id_of(POSTGRES.name)


@frozen
class Viewer:
    """One who is signed in."""

    email: str


@pytest.fixture
def server(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Server]:
    """Return a server that holds two entries and one key of 20 requests an hour.

    A parameter is to whom the pages are open, or a mapping with that as `openness`, their `url`, and whether
    registration `is_open`. Its registry API is public, unless a marker `registry(access, curated)` has it otherwise.
    """
    from directory_server import http, streams
    from directory_server.http.proxies import Proxies
    from directory_server.web import (
        access_log,
        account,
        authentication,
        changes,
        health,
        mcp,
        pages,
        registry,
        rest,
        routing,
    )
    from directory_server.web.origins import Origins
    from directory_server.web.rate_limit import AddressLimiter
    from directory_server.web.site import DirectorySite

    param = getattr(request, "param", {})
    chosen = {
        "openness": "public",
        "url": "",
        "is_open": False,
        "hsts": 0,
        **({"openness": param} if isinstance(param, str) else param),
    }

    clock = Clock()
    clock.advance(1_800_000_000)
    database = sqlite.Database(tmp_path, "directory")
    spent = sqlite.Database(tmp_path, "quota")
    store = sqlite.SqliteStore(database, inline, TextAnalysis())
    keys = sqlite.SqliteKeyRing(database, clock.seconds)
    bus = sqlite.DataVersionBus(database, clock)
    index = ImpactIndex(inline)
    directory = Directory(store, index, bus)
    hub = streams.Hub(keys, bus, clock, Random(1), per_key=2, **TIMES)
    newest, announcements = mcp.NewestEntries(directory), mcp.Announcements(hub, clock)
    log = run_sync(store.log_id())
    live = changes.Broadcaster(hub, changes.LogPages(directory, percolate, inline, log), percolate, inline, log)
    proxies = Proxies(["10.0.0.0/8"])
    visits = streams.Hub(pages.AnonymousOwners(), bus, clock, Random(1), per_key=2, **TIMES)
    accounts = sqlite.SqliteAccounts(database, clock.seconds)
    sessions = sqlite.SqliteSessions(database, clock.seconds, 86_400, 604_800)
    passwords = Plain()
    membership = AccountService(accounts, sessions, passwords)
    cookies = account.session_cookies(membership, proxies, 604_800)

    async def viewer(request: Any) -> Any:
        """Return who sends the cookie of a test, or of a session."""
        name = (request.getHeader("Cookie") or "").partition("test=")[2]
        return Viewer(f"{name}@example.org") if name else await cookies.account(request)

    web: Any = {"openness": chosen["openness"], "per_minute": 60, "viewer": viewer, "hsts": chosen["hsts"]}
    front = pages.front(directory, index.__len__, visits, proxies, clock.seconds, sign_in=account.SIGN_IN, **web)
    feed = Feed(store, bus, [index, newest], [live, announcements, front.news], clock)
    failures = AddressLimiter(proxies, clock.seconds, rate=0.5, burst=30)
    quota = sqlite.SqliteQuota(spent, clock.seconds)
    entrance = authentication.Authenticator(keys, quota, failures)
    endpoint = mcp.endpoint(entrance, directory, newest, mcp.McpSessions(b"s" * 32), hub, announcements)
    people = account.account_pages(
        front.frame,
        cookies,
        membership,
        UserKeys(keys, quota, sqlite.SqliteNewSecrets(database, clock.seconds), 20, 5, 86_400, Pending(2, 86_400)),
        endpoint,
        proxies,
        clock.seconds,
        url=chosen["url"],
        registration=account.RegistrationPolicy(chosen["is_open"], 3, 5),
    )
    reads = AddressLimiter(proxies, clock.seconds, rate=2, burst=120)
    tokens = sqlite.SqliteRegistryTokens(database, clock.seconds)
    marker = request.node.get_closest_marker("registry")
    mode: Any
    mode, curated = marker.args if marker else ("public", False)
    browsing = registry.RegistryAccess(mode, entrance, tokens, reads, failures)
    tree = routing.Routes(
        rest.RestHandlers(entrance, directory, inline),
        changes.ChangesHandler(entrance, directory, percolate, inline, hub, live),
        endpoint,
        registry.RegistryHandlers(browsing, directory, curated),
        health.Health(index),
        front,
        people,
    )
    origins = Origins(frozenset({"localhost"}), frozenset({"https://app.example.org"}))
    connections = http.Connections(
        clock, proxies, limit=5, per_address=3, grace=10, queued=10_000_000, sockets=1_000, streams=lambda: hub.sockets
    )
    door = DirectorySite(
        tree,
        origins,
        connections,
        access_log.AccessRecorder(clock.seconds, [access_log.AccessLog("text", cast(Any, AtOnce()))]),
        clock,
    )
    run_sync(feed.load())
    services = (bus, feed, hub, visits, door.connections)
    for service in services:
        service.startService()
    key, secret = run_sync(keys.create("test", limit=20, expires_at=None))
    under_test = Server(clock, tmp_path, directory, keys, hub, accounts, passwords, database, door, secret, key.id)
    under_test.publish(POSTGRES, MAIL)
    # Whoever is to be told of that has been.
    clock.advance(0)
    yield under_test
    for service in services:
        service.stopService()
    database.close()
    spent.close()

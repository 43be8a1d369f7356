"""Server in memory: the application with real adapters on a temporary folder, a Clock, and bytes in and out."""

from __future__ import annotations

import json
import runpy
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPResponse
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest
from attrs import evolve, field, frozen
from twisted.internet.address import IPv4Address
from twisted.internet.error import ConnectionDone
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure

import directory_server
from directory_server import sqlite
from directory_server.config import Config
from directory_server.domain.entries import Entry, mcp_id_of
from directory_server.domain.ports.runtime import MachineTime
from directory_server.feature.server import LOADS, SERVICES
from directory_server.features import sections
from directory_server.features.publishing.login_methods import NETWORK
from directory_server.features.publishing.tables import PublicationLog, PublisherTokens
from directory_server.features.reports.resource import REPORT
from directory_server.features.statistics.recorder import StatisticsRecorder
from directory_server.features.verification.service import CHECKERS
from directory_server.features.verification.verifier import Verifier
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.runtime.turn import ImmediateTurn
from directory_server.services.directory import Directory
from directory_server.tables import Requests, StoredAccounts, StoredKeyRing

from ..features.publishing.fake_logins import FakeLogins
from ..features.verification.fake_checkers import FakeCheckers
from ..responses import Response as Response

ROOT = Path(__file__).parent.parent.parent

_DOCUMENTATION = Path(directory_server.__file__).parent / "features" / "docs" / "pages.json"

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
"""The member `_meta` of the parameters of each request of the stateless protocol."""

PROTOCOL_HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="session", autouse=True)
def documentation() -> None:
    """Render the documentation pages in the source tree, as an editable installation does."""
    if not _DOCUMENTATION.exists():
        runpy.run_path(str(ROOT / "docs" / "render.py"))["write"](_DOCUMENTATION)


class Connection:
    """A connection to the server, of which the test is the client."""

    def __init__(self, site: Any, address: str = "127.0.0.1") -> None:
        self._clock = site.clock
        self.transport = cast(Any, StringTransport(peerAddress=IPv4Address("TCP", address, 50_000)))
        # As in real transports, another protocol can replace this one.
        self.transport.protocol = site.buildProtocol(self.transport.getPeer())
        self.transport.protocol.makeConnection(self.transport)

    def send(self, raw: bytes) -> None:
        self.transport.protocol.dataReceived(raw)

    def received(self) -> bytes:
        """Run the reactor turns that are due; return and clear the bytes that the server has sent."""
        while any(call.getTime() <= self._clock.seconds() for call in self._clock.getDelayedCalls()):
            self._clock.advance(0)
        sent: bytes = self.transport.value()
        self.transport.clear()
        return sent

    def close(self) -> None:
        """Close the connection from the client's side."""
        self.transport.protocol.connectionLost(Failure(ConnectionDone()))


@frozen
class RecordingHasher:
    """A fast password hasher that records the verified passwords."""

    verified: list[str] = field(factory=list)

    async def hash(self, password: str, *, client: str = "") -> str:
        return f"hash of {password}"

    async def verify(self, hashed: str | None, password: str, *, client: str = "") -> bool:
        self.verified.append(password)
        return hashed == f"hash of {password}"


@frozen
class Server:
    """The server under test, and the parts that tests use."""

    clock: Clock
    folder: Path
    directory: Directory
    keys: StoredKeyRing
    hub: Any
    accounts: StoredAccounts
    passwords: RecordingHasher
    database: sqlite.Database
    reports: Requests
    publishers: PublisherTokens
    publication_log: PublicationLog
    site: Any
    key_uses: Any
    application: Any
    fakes: FakeCheckers
    logins: FakeLogins
    key: str
    key_id: str
    statistics: Any = None

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

    def request(self, method: str, path: str, **options: Any) -> Response:
        """Send a request and return the response, which must be complete."""
        connection = self.open(method, path, **options)
        response = parse_response(connection.received(), method)
        connection.close()
        return response

    def get(self, path: str, **options: Any) -> Response:
        return self.request("GET", path, **options)

    def pages(self, path: str, **options: Any) -> Iterator[Response]:
        """Yield the responses for `path` and for each next page that the Link header of a response names."""
        while path:
            response = self.get(path, **options)
            yield response
            path = (response.headers["Link"] or "").removeprefix("<").removesuffix('>; rel="next"')

    def post(self, message: Any, *, headers: dict[str, str] | None = None, **options: Any) -> Response:
        """Post a message to the MCP endpoint."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        return self.request(
            "POST", "/api/open/mcp", body=body, headers={**PROTOCOL_HEADERS, **(headers or {})}, **options
        )

    def call(self, tool: str, arguments: Any, **options: Any) -> Any:
        """Call a tool as a client of the initialize era; return the result."""
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        return self.post(message, **options).json["result"]

    def new_key(self, *, limit: int | None = 20, expires_at: float | None = None) -> tuple[str, str]:
        """Create another key; return its id and its secret."""
        key, secret = run_sync(self.keys.create("another", limit=limit, expires_at=expires_at))
        return key.id, secret

    def verify(self, seconds: int = 59) -> None:
        """Check what is due, with the fakes; the summaries are read afterwards."""
        for service in self.application.background:
            if isinstance(service, Verifier):
                service.startService()
                self.clock.pump([1.0] * seconds)
                service.stopService()
        for load in self.application.server.all(LOADS):
            run_sync(load())

    def run_service(self, name: str, seconds: float = 0.0) -> None:
        """Run a service of the background, such as a follower, for some time."""
        for service in self.application.background:
            if service.name == name:
                service.startService()
                self.clock.advance(seconds)
                service.stopService()

    def publish(self, *entries: Entry) -> None:
        """Publish entries and update the index."""
        run_sync(self.directory.publish("local", entries))


def parse_response(raw: bytes, method: str = "GET") -> Response:
    """Parse the response in `raw`."""

    class Socket:
        def makefile(self, _: str) -> BytesIO:
            return BytesIO(raw)

    response = HTTPResponse(cast(Any, Socket()), method=method)
    response.begin()
    return Response(response.status, response.msg, response.read())


def entry(name: str, description: str = "A server.", **options: Any) -> Entry:
    return Entry({"name": name, "description": description, "version": "1.0.0", **options})


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
    """A viewer who is signed in."""

    email: str
    is_operator: bool = False
    is_auditor: bool = False
    sees_all: bool = False
    approved: bool = True

    @property
    def id(self) -> str:
        return self.email


def viewer_of_test_cookie(find: Callable[[Any], Awaitable[Any]]) -> Callable[[Any], Awaitable[Any]]:
    """Return `find`, except that the cookie `test=NAME` signs NAME in without a session."""

    async def viewer(request: Any) -> Any:
        name = b"; ".join(request.received.get(b"cookie", ())).decode().partition("test=")[2]
        return Viewer(f"{name}@example.org") if name else await find(request)

    return viewer


SETTINGS: Mapping[str, Any] = {
    "http.allowed_hosts": ("localhost",),
    "http.allowed_origins": ("https://app.example.org",),
    "http.trusted_proxies": ("10.0.0.0/8",),
    "http.connections": 5,
    "http.per_address": 3,
    "http.queued": 10_000_000,
    "streams.per_key": 2,
    "streams.total": 1_000,
    "registry.access": "public",
    "accounts.per_network": 5,
    "accounts.unused": 86_400.0,
    "web.search": "public",
    "web.per_minute": 60,
    "publish.enabled": True,
    "publish.per_minute": 30,
    "publish.max_entries": 20,
}
"""The settings of the server of tests that differ from the defaults."""


def configured(folder: Path, settings: Mapping[str, Any]) -> Config:
    """Return the configuration of a server on `folder` with values of `settings`, by their names."""
    tables: dict[str, dict[str, Any]] = {}
    for name, value in settings.items():
        section, _, key = name.partition(".")
        tables.setdefault(section, {})[key] = value
    features = {name: section(**tables.pop(name, {})) for name, section in sections().items()}
    config = Config(data_dir=folder, features=features)
    return evolve(config, **{name: evolve(getattr(config, name), **values) for name, values in tables.items()})


@pytest.fixture
def server(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Server]:
    """Return a server with two entries and one key of 20 requests an hour.

    The fixture's parameter is the setting web.search, or settings by their names. They override SETTINGS. The registry
    API is public, unless a marker `registry(access, curated)` says otherwise.
    """
    param = getattr(request, "param", {})
    settings = {"web.search": param} if isinstance(param, str) else dict(param)
    if marker := request.node.get_closest_marker("registry"):
        access, is_curated = marker.args
        settings |= {"registry.access": access, "registry.listed": "curated" if is_curated else "all"}
    with open_server(tmp_path, settings) as under_test:
        yield under_test


@contextmanager
def open_server(tmp_path: Path, settings: Mapping[str, Any]) -> Iterator[Server]:
    """Open a server on a folder. The settings override SETTINGS."""
    from directory_server import composition

    config = configured(tmp_path, {**SETTINGS, **settings})
    clock = Clock()
    clock.advance(1_800_000_000)
    passwords, fakes, logins = RecordingHasher(), FakeCheckers.of(clock.seconds), FakeLogins()
    runtime = composition.Runtime(
        reactor=clock,
        now=clock.seconds,
        wall=clock.seconds,
        monotonic=clock.seconds,
        machine_time=MachineTime(clock.seconds, clock.seconds, "test"),
        offload=inline,
        account_writes=inline,
        passwords=passwords,
        turn=ImmediateTurn(),
        new_random=lambda: Random(1),
        page_streams=2,
        replaced={CHECKERS: fakes.checkers(), NETWORK: logins.network()},
        wrap_viewer=viewer_of_test_cookie,
    )
    application = composition.build(config, clock, sockets=2_000, lost=pytest.fail, runtime=runtime)
    run_sync(application.load())
    serving = (application.bus, application.feed, *application.clients)
    for service in serving:
        service.startService()
    storage = application.storage
    database = sqlite.Database(tmp_path, "directory")
    key, secret = run_sync(storage.people.keys.create("test", limit=20, expires_at=None))
    under_test = Server(
        clock,
        tmp_path,
        application.search.directory,
        storage.people.keys,
        application.publishers.hub,
        storage.people.accounts,
        passwords,
        database,
        Requests(storage.tables, (REPORT,)),
        PublisherTokens(storage.tables, clock.seconds),
        PublicationLog(storage.tables),
        application.web.site,
        application.web.key_uses,
        application,
        fakes,
        logins,
        secret,
        key.id,
        statistics=_recorder(application),
    )
    under_test.publish(POSTGRES, MAIL)
    # The announcers of the feed publish in the next turn.
    clock.advance(0)
    yield under_test
    for service in serving:
        service.stopService()
    database.close()
    application.close()


def _recorder(application: Any) -> StatisticsRecorder:
    return next(service for service in application.server.all(SERVICES) if isinstance(service, StatisticsRecorder))

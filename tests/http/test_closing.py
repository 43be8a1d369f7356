"""Closing connections, with real sockets: every socket is closed after its last response."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterator
from math import inf
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from klein import Klein
from twisted.internet.defer import Deferred
from twisted.internet.error import ConnectionDone
from twisted.internet.selectreactor import SelectReactor
from twisted.internet.task import Clock
from twisted.internet.tcp import Port
from twisted.internet.unix import Port as UnixPort
from twisted.internet.unix import Server as UnixServer
from twisted.python.failure import Failure

from directory_server.turn import ImmediateTurn

from ..process._certificates import certificate

BODY = b"0123456789abcdef" * 64 * 1024
"""A response of one megabyte, which is more than the sockets' buffers hold."""

BUFFER = 32 * 1024
KINDS = ["tcp", "tls", "unix"]


def ask(version: str = "1.1", *fields: str, path: str = "/large") -> bytes:
    return "\r\n".join([f"GET {path} HTTP/{version}", "Host: localhost", *fields, "", ""]).encode()


KEEP = ask()
CLOSE = ask("1.1", "Connection: close")
POST = b"POST /large HTTP/1.1\r\nHost: localhost\r\n"

ENDS = {
    "Connection: close": (CLOSE, 1),
    "HTTP/1.0": (ask("1.0"), 1),
    "HTTP/1.0, keep-alive": (ask("1.0", "Connection: keep-alive"), 1),
    "pipelined": (KEEP * 4 + CLOSE, 5),
    "bytes after the last request": (CLOSE + KEEP * 20, 1),
    "invalid request after a response": (KEEP + b"nonsense\r\n\r\n", 1),
    "invalid request after several responses": (KEEP * 3 + b"GET / HTTP/9.9\r\n\r\n", 3),
    "Content-Length too large": (POST + b"Content-Length: 900000\r\n\r\n" + b"x" * 200_000, 0),
    "chunked body too large": (POST + b"Transfer-Encoding: chunked\r\n\r\n20000\r\n" + b"x" * 200_000, 0),
    "head too large": (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 200_000, 0),
}
"""Data after which the server closes, and the number of complete responses before that."""


class Site:
    """The server's site on a listening socket. Its reactor runs while a client waits."""

    def __init__(self, kind: str, folder: Path, **bounds: Any) -> None:
        from directory_server.http import Connections, ImmediateWriteServer
        from directory_server.http.proxies import Proxies
        from directory_server.web.access_log import AccessRecorder
        from directory_server.web.origins import Origins
        from directory_server.web.site import DirectorySite

        accepted: list[socket.socket] = []
        self.accepted = accepted
        self.slow: list[Deferred[None]] = []
        self.served = 0
        self.clock = Clock()
        self.reactor = SelectReactor()
        self.kind = kind
        self.folder = folder
        bounds = {"limit": 100, "per_address": 100, "queued": 64_000_000, "sockets": 1_000, **bounds}
        self.connections = Connections(self.clock, Proxies(), grace=10, **bounds)
        tree: Any = SimpleNamespace(
            app=Klein(),
            exact=lambda: {
                (b"GET", b"/large"): self._large,
                (b"GET", b"/slow"): self._slow,
                (b"GET", b"/broken"): self._broken,
            },
            templates=lambda: SimpleNamespace(of=lambda path: "-"),
        )
        site = DirectorySite(
            tree,
            Origins(frozenset(), frozenset()),
            self.connections,
            AccessRecorder(self.clock.seconds, [], ImmediateTurn()),
            self.clock,
        )
        factory: Any = site
        if kind == "tls":
            from twisted.internet.ssl import PrivateCertificate
            from twisted.protocols.tls import TLSMemoryBIOFactory

            pem = PrivateCertificate.loadPEM(certificate(folder).read_bytes())
            factory = TLSMemoryBIOFactory(pem.options(), False, site, self.reactor)

        class Tcp(ImmediateWriteServer):
            def __init__(self, sock: socket.socket, *others: Any) -> None:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
                accepted.append(sock)
                super().__init__(sock, *others)

        class Unix(UnixServer):
            def __init__(self, sock: socket.socket, *others: Any) -> None:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
                accepted.append(sock)
                super().__init__(sock, *others)

        if kind == "unix":
            self.port: Any = UnixPort(bytes(folder / "s"), factory, reactor=self.reactor)
            self.port.transport = Unix
        else:
            self.port = Port(0, factory, interface="127.0.0.1", reactor=self.reactor)
            self.port.transport = Tcp
        self.port.startListening()
        self.connections.startService()

    async def _large(self, request: Any) -> bytes:
        self.served += 1
        request.setHeader("Content-Length", str(len(BODY)))
        return BODY

    async def _slow(self, request: Any) -> bytes:
        waiting: Deferred[None] = Deferred()
        self.slow.append(waiting)
        await waiting
        return await self._large(request)

    async def _broken(self, request: Any) -> Any:
        request.setHeader("Content-Length", "1")
        return "no bytes"

    def close(self) -> None:
        self.connections.stopService()
        for each in self.reactor.removeAll():
            each.connectionLost(Failure(ConnectionDone()))
        self.advance(1)
        for each in list(self.reactor._internalReaders):
            each.connectionLost(Failure(ConnectionDone()))

    def connect(self) -> socket.socket:
        """Return a new non-blocking client socket."""
        client = socket.socket(socket.AF_UNIX if self.kind == "unix" else socket.AF_INET)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
        client.connect(str(self.folder / "s") if self.kind == "unix" else ("127.0.0.1", self.port.getHost().port))
        client.setblocking(False)
        return client

    def open(self) -> socket.socket:
        """Return a new client socket after the TLS handshake, if any."""
        client = self.connect()
        if self.kind == "tls":
            context = ssl.create_default_context(cafile=str(self.folder / "localhost.pem"))
            client = context.wrap_socket(client, server_hostname="localhost", do_handshake_on_connect=False)
            self.run_until(client.do_handshake)
        return client

    def run_until(self, step: Callable[[], Any], most: int = 20_000) -> Any:
        """Run the reactor until `step` does not block, and return its result."""
        for _ in range(most):
            self.reactor.iterate(0)
            try:
                return step()
            except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
                pass
        raise AssertionError("the socket still blocks")

    def advance(self, seconds: float = 0) -> None:
        """Advance the clock by `seconds` and process all events."""
        for _ in range(50):
            self.reactor.iterate(0)
        for _ in range(int(seconds)):
            self.clock.advance(1)
            for _ in range(5):
                self.reactor.iterate(0)

    def send(self, client: socket.socket, raw: bytes) -> None:
        """Send all data, or as much as the server accepts."""
        for begin in range(0, len(raw), 4096):
            piece = raw[begin : begin + 4096]
            while piece:
                try:
                    piece = piece[self.run_until(lambda: client.send(piece), 100) :]  # noqa: B023
                except (AssertionError, ConnectionError, ssl.SSLError):
                    return

    def read(self, client: socket.socket, enough: float = inf) -> bytes:
        """Read until the server closes or `enough` bytes were received."""
        found = bytearray()
        while len(found) < enough:
            try:
                data = self.run_until(lambda: client.recv(65_536))
            except (ConnectionResetError, ssl.SSLEOFError):
                break
            if not data:
                break
            found += data
        return bytes(found)

    @property
    def sockets(self) -> int:
        """The number of accepted sockets that are open."""
        return sum(each.fileno() != -1 for each in self.accepted)


@pytest.fixture
def sites(tmp_path: Path) -> Iterator[Callable[..., Site]]:
    created: list[Site] = []

    def make(kind: str, **bounds: int) -> Site:
        if kind == "tls":
            pytest.importorskip("OpenSSL")
        created.append(Site(kind, tmp_path, **bounds))
        return created[-1]

    yield make
    for each in created:
        each.close()


def check_closed(site: Site) -> None:
    assert (site.sockets, len(site.connections), len(site.connections.budget)) == (0, 0, 0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ENDS)
def test_a_reading_client_receives_everything_and_the_socket_is_closed(
    sites: Callable[..., Site], kind: str, name: str
) -> None:
    raw, answers = ENDS[name]
    site = sites(kind)
    client = site.open()
    site.send(client, raw)
    received = site.read(client)
    assert received.count(BODY) == answers
    assert b"\r\nConnection: close\r\n" in received[-len(BODY) - 1_000 :]
    # The client keeps its end of the connection open.
    site.advance(3)
    check_closed(site)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ENDS)
def test_a_client_that_does_not_read_is_disconnected(sites: Callable[..., Site], kind: str, name: str) -> None:
    site = sites(kind)
    client = site.open()
    site.send(client, ENDS[name][0])
    site.advance(40)
    check_closed(site)
    assert client.fileno() != -1


@pytest.mark.parametrize("kind", KINDS)
def test_a_client_that_closes_with_unread_responses(sites: Callable[..., Site], kind: str) -> None:
    site = sites(kind)
    for raw in (KEEP * 10, CLOSE):
        client = site.open()
        site.send(client, raw)
        site.read(client, 1)
        client.close()
    site.advance(1)
    check_closed(site)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("raw", [KEEP, CLOSE, KEEP * 3])
def test_a_client_that_closes_its_half(sites: Callable[..., Site], kind: str, raw: bytes) -> None:
    site = sites(kind)
    client = site.open()
    site.send(client, raw)
    socket.socket.shutdown(client, socket.SHUT_WR)
    site.read(client)
    site.advance(3)
    check_closed(site)


@pytest.mark.parametrize("kind", KINDS)
def test_a_client_that_is_idle_after_a_large_response(sites: Callable[..., Site], kind: str) -> None:
    site = sites(kind)
    client = site.open()
    for _ in range(2):
        site.send(client, KEEP)
        received = b""
        while not received.endswith(BODY):
            received += site.run_until(lambda: client.recv(65_536))
    site.advance(74)
    assert site.sockets == 1
    site.advance(4)
    check_closed(site)


@pytest.mark.parametrize("kind", KINDS)
def test_a_slow_reader_receives_everything(sites: Callable[..., Site], kind: str) -> None:
    site = sites(kind)
    client = site.open()
    site.send(client, CLOSE)
    received = bytearray()
    while len(received) < len(BODY):
        received += site.run_until(lambda: client.recv(20_000))
        site.advance(1)
    received += site.read(client)
    assert received.endswith(BODY)
    site.advance(3)
    check_closed(site)


@pytest.mark.parametrize("kind", KINDS)
def test_no_further_request_of_a_client_that_does_not_read_is_answered(sites: Callable[..., Site], kind: str) -> None:
    site = sites(kind)
    client = site.open()
    site.send(client, KEEP * 10)
    site.advance(1)
    assert site.served == 1
    received = site.read(client, 10 * len(BODY))
    while received.count(BODY) < 10:
        received += site.read(client, 1)
    assert received.count(BODY) == site.served == 10


def test_a_client_that_does_not_complete_the_tls_handshake(sites: Callable[..., Site]) -> None:
    site = sites("tls")
    silent, started = site.connect(), site.connect()
    started.send(b"\x16\x03\x01\x02\x00\x01")
    site.advance(1)
    assert site.sockets == 2
    site.advance(110)
    check_closed(site)
    assert silent.fileno() != -1


@pytest.mark.parametrize("kind", KINDS)
def test_a_connection_above_the_limit_is_closed(sites: Callable[..., Site], kind: str) -> None:
    site = sites(kind, limit=1)
    first = site.open()
    site.advance(1)
    second = site.connect()
    assert site.read(second) == b""
    assert (site.sockets, len(site.connections)) == (1, 1)
    first.close()
    site.advance(1)
    check_closed(site)


@pytest.mark.parametrize("kind", KINDS)
def test_a_response_that_cannot_be_sent_closes_the_connection(
    sites: Callable[..., Site], kind: str, logged_failures: list[Any]
) -> None:
    site = sites(kind)
    client = site.open()
    site.send(client, ask(path="/broken"))
    site.read(client)
    site.advance(3)
    check_closed(site)
    assert len(logged_failures) == 1
    logged_failures.clear()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reads", [True, False])
def test_a_stopping_server_closes_large_responses(sites: Callable[..., Site], kind: str, reads: bool) -> None:
    site = sites(kind)
    large, slow = site.open(), site.open()
    site.send(large, KEEP * 3)
    site.send(slow, ask(path="/slow"))
    site.advance()
    stopped = site.connections.stopService()
    site.advance(1)
    for each in site.slow:
        each.callback(None)
    if reads:
        assert site.read(large).count(BODY) == site.read(slow).count(BODY) == 1
    assert stopped is not None
    for _ in range(12):
        site.advance(1)
    assert stopped.called
    assert not reads or site.sockets == 0


@pytest.mark.parametrize("kind", KINDS)
def test_queued_bytes_of_all_clients_are_limited(sites: Callable[..., Site], kind: str) -> None:
    site = sites(kind, queued=4 * len(BODY))
    clients = []
    for _ in range(10):
        clients.append(site.open())
        site.send(clients[-1], KEEP)
    site.advance(1)
    assert site.connections.budget.total <= 4 * len(BODY)
    # The clients that have read nothing for the longest time are disconnected.
    assert (site.served, site.sockets) == (10, 3)
    received = site.read(clients[-1], len(BODY))
    assert BODY[:500_000] in received
    for each in clients[:7]:
        with pytest.raises((ConnectionError, ssl.SSLError)):
            site.run_until(lambda: each.send(KEEP))  # noqa: B023

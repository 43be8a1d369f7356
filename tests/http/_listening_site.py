"""The server's site on a listening socket, for the tests of closed connections."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable
from math import inf
from pathlib import Path
from time import monotonic
from types import SimpleNamespace
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.error import ConnectionDone
from twisted.internet.selectreactor import SelectReactor
from twisted.internet.task import Clock
from twisted.internet.tcp import Port
from twisted.internet.unix import Port as UnixPort
from twisted.internet.unix import Server as UnixServer
from twisted.python.failure import Failure

from directory_server.http import Connections, ImmediateWriteServer
from directory_server.http.proxies import Proxies
from directory_server.runtime.turn import ImmediateTurn
from directory_server.web.access_log import AccessRecorder
from directory_server.web.origins import Origins
from directory_server.web.routes import STATUS, Route
from directory_server.web.routing import Match
from directory_server.web.site import DirectorySite

from ..process._certificates import certificate
from ..process.conftest import TIMEOUT

BODY = b"0123456789abcdef" * 64 * 1024
"""A response of one megabyte, which is more than the sockets' buffers hold."""

BUFFER = 32 * 1024

KINDS = ["tcp", "tls", "unix"]


def request_bytes(version: str = "1.1", *fields: str, path: str = "/large") -> bytes:
    """Return a GET request with the header lines `fields`."""
    return "\r\n".join([f"GET {path} HTTP/{version}", "Host: localhost", *fields, "", ""]).encode()


class Site:
    """The server's site on a listening socket. Its reactor runs while a client waits."""

    def __init__(self, kind: str, folder: Path, **bounds: Any) -> None:
        accepted: list[socket.socket] = []
        self.accepted = accepted
        self.slow: list[Deferred[None]] = []
        self.served = 0
        self.clock = Clock()
        self.reactor = SelectReactor()
        self.kind = kind
        self.folder = folder
        bounds = {"limit": 100, "per_address": 100, "queued": 64_000_000, "sockets": 1_000, **bounds}
        self.connections = Connections(self.clock, Proxies(), grace=10, at_end=ImmediateTurn().at_end, **bounds)
        route = Route("/", "GET", STATUS)
        handlers = {b"/large": self._large, b"/slow": self._slow, b"/broken": self._broken}
        exact = {(b"GET", path): Match(route, handler) for path, handler in handlers.items()}
        tree: Any = SimpleNamespace(exact=lambda: exact, match=lambda *_: Match(route, self._broken))
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

    def turn(self) -> None:
        """Run one turn of the reactor, and the calls that are due."""
        self.reactor.iterate(0)
        self.clock.advance(0)

    def run_until(self, step: Callable[[], Any], turns: float = inf) -> Any:
        """Run the reactor until `step` does not block, at most `turns` times; return its result."""
        turn, end = 0, monotonic() + TIMEOUT
        while turn < turns and monotonic() < end:
            self.turn()
            try:
                return step()
            except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
                turn += 1
        raise AssertionError("the socket still blocks")

    def wait_for(self, condition: Callable[[], Any]) -> None:
        """Run the reactor until `condition` is true, without advancing the clock: the kernel may deliver late."""

        def step() -> None:
            if not condition():
                raise BlockingIOError

        self.run_until(step)

    def advance(self, seconds: float = 0) -> None:
        """Advance the clock by `seconds` and process all events."""
        for _ in range(50):
            self.turn()
        for _ in range(int(seconds)):
            self.clock.advance(1)
            for _ in range(5):
                self.turn()

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

    def wait_until_closed(self) -> None:
        """Wait until no socket and no connection is left."""
        self.wait_for(lambda: (self.sockets, len(self.connections), len(self.connections.budget)) == (0, 0, 0))

    @property
    def sockets(self) -> int:
        """The number of accepted sockets that are open."""
        return sum(each.fileno() != -1 for each in self.accepted)

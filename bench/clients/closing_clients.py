"""Clients that close their connections in every possible way, most of them during a large response."""

from __future__ import annotations

import json
import socket
import struct
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress

from attrs import define, field

MAX_UNREAD = 20
"""Open connections whose clients read nothing."""

UNREAD_SECONDS = 40.0
"""Seconds for which such a client keeps its connection. The server closes it earlier (docs/operations.md, Limits)."""

_TIMEOUT = 30.0


@define
class ClosingClients:
    """Clients that close in each way in turn. `responses` counts by way and status; status 0 is no response."""

    port: int
    key: str
    responses: Counter[tuple[str, int]] = field(factory=Counter)
    _unread: list[tuple[float, socket.socket]] = field(factory=list)

    def run(self, end: float) -> None:
        """Send requests until `end`, in seconds of the monotonic clock."""
        while time.monotonic() < end:
            for name, way in self._ways():
                try:
                    status = way()
                except OSError:
                    status = 0
                self.responses[name, status] += 1
            time.sleep(0.02)
        for _, connection in self._unread:
            connection.close()

    def _ways(self) -> Iterator[tuple[str, Callable[[], int]]]:
        large = self._get("/api/open/v1/changes?since=0&limit=1000", "Accept: application/json")
        batch = json.dumps([{"jsonrpc": "2.0", "id": number, "method": "tools/list"} for number in range(20)]).encode()
        post = self._head("POST /api/open/mcp HTTP/1.1", "Content-Type: application/json", "Connection: close")
        yield "Connection: close", lambda: self._read(self._get("/api/open/v1/changes?since=0&limit=1000", _CLOSE))
        yield "close, a batch", lambda: self._read(post % (b"Content-Length: %d\r\n" % len(batch)) + batch)
        yield "HTTP/1.0", lambda: self._read(large.replace(b"HTTP/1.1", b"HTTP/1.0", 1))
        yield "half close", lambda: self._read(large, half=True)
        yield "abort", lambda: self._abort(large)
        yield "abort in the middle", lambda: self._abort(large, read=1000)
        yield "no key", lambda: self._read(_KEYLESS)
        yield "unknown path", lambda: self._read(self._get("/no/such/path", _CLOSE))
        yield "body too large", lambda: self._read(post % b"Content-Length: 99999999\r\n")
        yield "not HTTP", lambda: self._read(b"\x16\x03\x01 nothing\r\n\r\n")
        yield "reads nothing", lambda: self._leave_unread(large)

    def _head(self, line: str, *headers: str) -> bytes:
        lines = [line, "Host: localhost", f"Authorization: Bearer {self.key}", "Accept: application/json", *headers]
        return "\r\n".join(lines).encode() + b"\r\n%b\r\n"

    def _get(self, path: str, *headers: str) -> bytes:
        return self._head(f"GET {path} HTTP/1.1", *headers) % b""

    def _connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=_TIMEOUT)

    def _read(self, request: bytes, *, half: bool = False) -> int:
        """Send a request, read until the server closes the connection, and return the status."""
        with self._connect() as connection:
            connection.sendall(request)
            if half:
                connection.shutdown(socket.SHUT_WR)
            first = b""
            while data := connection.recv(262_144):
                first = first or data
            return int(first[9:12] or 0)

    def _abort(self, request: bytes, read: int = 0) -> int:
        """Send a request, read part of the response and reset the connection; return 0."""
        with self._connect() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.sendall(request)
            if read:
                connection.recv(read)
        return 0

    def _leave_unread(self, request: bytes) -> int:
        """Send a request on a connection that is never read, at most MAX_UNREAD at a time; return 0."""
        now = time.monotonic()
        while self._unread and now - self._unread[0][0] > UNREAD_SECONDS:
            self._unread.pop(0)[1].close()
        if len(self._unread) < MAX_UNREAD:
            connection = socket.socket()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.settimeout(_TIMEOUT)
            with suppress(OSError):
                connection.connect(("127.0.0.1", self.port))
                connection.sendall(request)
            self._unread.append((now, connection))
        return 0


_CLOSE = "Connection: close"
_KEYLESS = b"GET /api/open/v1/search?keywords=a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

"""Attacking clients: they send a request very slowly, or an endless body."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from attrs import frozen

EVERY = 0.5
"""Seconds between two bytes on a slow connection."""

POST = b"POST /api/open/mcp HTTP/1.1\r\nHost: localhost\r\n"
GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"


@frozen
class SlowResult:
    """The result of a slow attack: the seconds after which each connection was closed, and the number of responses."""

    closed: Sequence[float]
    responses: int


@frozen
class Slow:
    """An attack by clients that send `begin` and then single bytes. The server allows `deadline` seconds."""

    begin: bytes
    byte: bytes
    deadline: float

    def run(self, port: int, count: int) -> SlowResult:
        """Open `count` connections and keep them until the server closes them, at most for twice the deadline."""
        poll, connections, began, closed, responses = select.poll(), {}, {}, [], 0
        for _ in range(count):
            connection = socket.create_connection(("127.0.0.1", port), timeout=30)
            connection.sendall(self.begin)
            connections[connection.fileno()], began[connection.fileno()] = connection, time.monotonic()
            poll.register(connection, select.POLLIN)
        end, due = time.monotonic() + 2 * self.deadline + 10, time.monotonic()
        while connections and time.monotonic() < end:
            for number, _ in poll.poll(50):
                received = b""
                with suppress(ConnectionResetError):
                    received = connections[number].recv(65_536)
                if received:
                    responses += received.startswith(b"HTTP/1.1 408 ")
                    continue
                closed.append(time.monotonic() - began[number])
                poll.unregister(number)
                connections.pop(number).close()
            if self.byte and time.monotonic() >= due:
                due += EVERY
                for connection in connections.values():
                    with suppress(OSError):
                        connection.send(self.byte)
        for connection in connections.values():
            connection.close()
        return SlowResult(closed, responses)


SLOW: Mapping[str, Slow] = {
    "heads": Slow(GET + b"X: ", b"a", 10),
    "bodies": Slow(POST + b"Content-Length: 60000\r\n\r\n", b" ", 15),
}
"""Attacks by name; the deadlines are those of docs/operations.md."""

_PIPELINE = (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 500)[:16_384]

CROWDS: Mapping[str, bytes] = {
    "pipelines": (GET + b"\r\n") * 1_500,
    "waiting": b"GET /api/open/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 5 + _PIPELINE,
    "bodies": POST + b"Content-Length: 65000\r\n\r\n" + b" " * 64_000,
    "chunks": POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"2\r\n  \r\n" * 31_000,
}
"""Data by name, of clients that read nothing and never complete their last request."""


def crowd(port: int, count: int, data: bytes, seconds: float) -> None:
    """Send `data` on `count` connections at once, without reading, and close them after `seconds`."""
    connections, left = {}, {}
    poll = select.poll()
    for _ in range(count):
        connection = socket.create_connection(("127.0.0.1", port), timeout=30)
        connection.setblocking(False)
        connections[connection.fileno()], left[connection.fileno()] = connection, memoryview(data)
        poll.register(connection, select.POLLOUT)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for number, _ in poll.poll(50):
            try:
                left[number] = left[number][connections[number].send(left[number]) :]
            except OSError:
                left[number] = memoryview(b"")
            if not left[number]:
                poll.unregister(number)
    for connection in connections.values():
        connection.close()


_CHUNK = b"a=1&" * 16_384
_FORM = POST + b"Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n"

BODIES: Mapping[str, tuple[Callable[[int], bytes], bytes]] = {
    "with a length": (lambda length: POST + b"Content-Length: %d\r\n\r\n" % length, _CHUNK),
    "in chunks": (lambda _: _FORM, b"%x\r\n%b\r\n" % (len(_CHUNK), _CHUNK)),
    "in bytes": (lambda _: _FORM, b"1\r\na\r\n" * 10_000),
}
"""Endless bodies by name: a function from a length to the head, and the data that is repeated after it."""


@frozen
class EndlessResult:
    """The result of an endless body: the bytes sent before the response, and its status."""

    sent: int
    status: int


def endless(port: int, head: bytes, chunk: bytes, length: int) -> EndlessResult:
    """Send `head` and then `chunk` until a response arrives or `length` bytes are sent."""
    sent, left = 0, head
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        with suppress(BrokenPipeError, ConnectionResetError):
            while sent < length and not select.select([connection], [], [], 0)[0]:
                count = connection.send(left)
                sent, left = sent + count, left[count:] or chunk
        response = connection.recv(65_536)
    return EndlessResult(sent, int(response.split()[1]) if response else 0)

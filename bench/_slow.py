"""Clients that never finish what they send, and those that send without an end."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from attrs import frozen

EVERY = 0.5
"""Seconds between two bytes on a slow connection."""

POST = b"POST /api/open/mcp HTTP/1.1\r\nHost: localhost\r\n"
GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"


@frozen
class Gone:
    """How a slow attack ended: after how many seconds each connection was closed, and how many had an answer."""

    gone: Sequence[float]
    answered: int


@frozen
class Slow:
    """An attack by clients that send `begin`, and then a byte now and then, and have `deadline` seconds for all."""

    begin: bytes
    byte: bytes
    deadline: float

    def run(self, port: int, count: int) -> Gone:
        """Open `count` connections, and hold them as long as the server lets them, or for twice the deadline."""
        poll, connections, began, gone, answered = select.poll(), {}, {}, [], 0
        for _ in range(count):
            connection = socket.create_connection(("127.0.0.1", port), timeout=30)
            connection.sendall(self.begin)
            connections[connection.fileno()], began[connection.fileno()] = connection, time.monotonic()
            poll.register(connection, select.POLLIN)
        end, turn = time.monotonic() + 2 * self.deadline + 10, time.monotonic()
        while connections and time.monotonic() < end:
            for number, _ in poll.poll(50):
                received = b""
                with suppress(ConnectionResetError):
                    received = connections[number].recv(65_536)
                if received:
                    answered += received.startswith(b"HTTP/1.1 408 ")
                    continue
                gone.append(time.monotonic() - began[number])
                poll.unregister(number)
                connections.pop(number).close()
            if self.byte and time.monotonic() >= turn:
                turn += EVERY
                for connection in connections.values():
                    with suppress(OSError):
                        connection.send(self.byte)
        for connection in connections.values():
            connection.close()
        return Gone(gone, answered)


SLOW: Mapping[str, Slow] = {
    "heads": Slow(GET + b"X: ", b"a", 10),
    "bodies": Slow(POST + b"Content-Length: 60000\r\n\r\n", b" ", 15),
}
"""Attacks by name; the deadlines are those of docs/operations.md."""

_PIECE = b"a=1&" * 16_384
_FORM = POST + b"Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n"

BODIES: Mapping[str, tuple[Callable[[int], bytes], bytes]] = {
    "with a length": (lambda length: POST + b"Content-Length: %d\r\n\r\n" % length, _PIECE),
    "in chunks": (lambda _: _FORM, b"%x\r\n%b\r\n" % (len(_PIECE), _PIECE)),
    "in bytes": (lambda _: _FORM, b"1\r\na\r\n" * 10_000),
}
"""Bodies by name: the head of the request for a length, and what is sent behind it again and again."""


@frozen
class Cut:
    """What came of a body without an end: bytes sent before there was an answer, and its status."""

    sent: int
    status: int


def endless(port: int, head: bytes, piece: bytes, length: int) -> Cut:
    """Send `head` and then `piece` until there is an answer, or `length` bytes are sent."""
    sent, left = 0, head
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        with suppress(BrokenPipeError, ConnectionResetError):
            while sent < length and not select.select([connection], [], [], 0)[0]:
                count = connection.send(left)
                sent, left = sent + count, left[count:] or piece
        answer = connection.recv(65_536)
    return Cut(sent, int(answer.split()[1]) if answer else 0)


def held(process: int, what: str = "VmRSS") -> int:
    """Return the kilobytes of memory that a process holds, or the most it has held: VmHWM (proc_pid_status(5))."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition(f"{what}:")[2].split()[0])

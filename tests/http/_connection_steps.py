"""Steps of the tests of connections: connect, let time pass, and read the responses."""

from __future__ import annotations

from typing import Any

from ..web.conftest import Connection, Server

HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


def statuses(raw: bytes) -> list[int]:
    """Return the statuses of the responses in `raw`, which all have a Content-Length."""
    found = []
    while raw:
        head, _, rest = raw.partition(b"\r\n\r\n")
        lines = head.split(b"\r\n")
        found.append(int(lines[0].split()[1]))
        length = next((int(line[16:]) for line in lines if line.lower().startswith(b"content-length: ")), 0)
        raw = rest[length:]
    return found


def connect(server: Server) -> Connection:
    return Connection(server.site)


def is_closed(connection: Connection) -> bool:
    return bool(connection.transport.disconnecting or connection.transport.disconnected)


def advance(server: Server, seconds: float) -> None:
    server.clock.pump([1.0] * int(seconds))


def run_turn(server: Server) -> None:
    """Run the calls that are due, as a reactor does: calls that they add run in the next turn."""
    due: list[Any] = [call for call in server.clock.getDelayedCalls() if call.getTime() <= server.clock.seconds()]
    for call in due:
        if call.active():
            server.clock.calls.remove(call)
            call.called = 1
            call.func(*call.args, **call.kw)

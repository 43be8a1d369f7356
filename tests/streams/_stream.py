"""Event streams of the MCP endpoint, for the tests of streams."""

from __future__ import annotations

from typing import Any

from ..web.conftest import Connection, Server

ENDPOINT = "/api/open/mcp"


def listen(server: Server, **more: Any) -> Connection:
    """Open an event stream and return its connection."""
    return server.open("GET", ENDPOINT, headers={"Accept": "text/event-stream"}, **more)


def the_stream(connection: Connection) -> Any:
    """Return the stream that is the protocol of a connection."""
    from directory_server.streams import Stream

    stream = connection.transport.protocol
    assert isinstance(stream, Stream)
    assert connection.transport.producer is stream
    return stream

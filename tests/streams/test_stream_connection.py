"""The connection of an event stream: its bytes and its memory."""

from __future__ import annotations

import gc
from types import FunctionType, ModuleType

import pytest
from twisted.internet.defer import Deferred

from ..web.conftest import Connection, Server
from ._stream import ENDPOINT, listen, the_stream


def test_the_first_bytes_are_sent_at_once_and_cost_nothing(server: Server) -> None:
    head, _, body = listen(server).received().partition(b"\r\n\r\n")
    head = head.lower()
    assert head.startswith(b"http/1.1 200 ok")
    assert b"content-type: text/event-stream" in head
    assert b"cache-control: no-cache, no-transform" in head
    assert b"x-accel-buffering: no" in head
    assert b"x-ratelimit-remaining: 20" in head
    assert b"connection: close" in head
    assert b"transfer-encoding" not in head
    assert body == b": \n\n"


def test_a_stream_keeps_no_reference_to_its_request(server: Server) -> None:
    # A leaked request or connection would cost memory for as long as the stream is open.
    from directory_server.http import Connection as HttpConnection
    from directory_server.http._request import Request

    gc.collect()
    before = server.clock.getDelayedCalls()
    streams = [listen(server), listen(server)]
    gc.collect()
    kinds, borders = (HttpConnection, Request, Deferred), {server.hub, the_stream(streams[0]).channel}
    leaked = [one for stream in streams for one in reachable(the_stream(stream), borders) if isinstance(one, kinds)]
    assert leaked == []
    # Objects of other tests have another site.
    assert not [one for one in gc.get_objects() if isinstance(one, kinds[:2]) and one.site is server.site]
    assert server.clock.getDelayedCalls() == before
    assert len(server.site.connections) == 0
    assert not hasattr(the_stream(streams[0]), "__dict__")


def reachable(start: object, borders: set[object]) -> list[object]:
    """Return the objects that are reachable from `start`, but not through `borders`, classes, modules or functions."""
    seen, found, open_ = {id(one) for one in borders}, [], [start]
    while open_:
        one = open_.pop()
        if id(one) in seen or isinstance(one, type | ModuleType | FunctionType):
            continue
        seen.add(id(one))
        found.append(one)
        open_.extend(gc.get_referents(one))
    return found


@pytest.mark.parametrize("version", ["1.0", "1.1"])
@pytest.mark.parametrize("connection", ["close", "keep-alive"])
def test_http_1_0_and_1_1_receive_the_same_bytes(server: Server, version: str, connection: str) -> None:
    stream = Connection(server.site)
    stream.send(
        f"GET {ENDPOINT} HTTP/{version}\r\nHost: localhost\r\nConnection: {connection}\r\n"
        f"Authorization: Bearer {server.key}\r\n\r\n".encode()
    )
    head, _, body = stream.received().partition(b"\r\n\r\n")
    assert b"\r\nconnection: close" in head.lower()
    assert b"transfer-encoding" not in head.lower()
    assert b"content-length" not in head.lower()
    the_stream(stream).send(b"data: x\n\n")
    assert (body, stream.received()) == (b": \n\n", b"data: x\n\n")


@pytest.mark.parametrize(
    "more",
    [
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" * 100,
        b"POST /api/open/mcp HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n",
        b"\x00nonsense",
        b"x" * 200_000,
    ],
)
@pytest.mark.parametrize("at_once", [True, False])
def test_data_after_the_request_is_ignored(server: Server, more: bytes, at_once: bool) -> None:
    stream = Connection(server.site)
    request = f"GET {ENDPOINT} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {server.key}\r\n\r\n".encode()
    for part in [request + more] if at_once else [request, more]:
        stream.send(part)
    assert stream.received().partition(b"\r\n\r\n")[2] == b": \n\n"
    # The server keeps reading, so that it notices a disconnect.
    assert stream.transport.producerState == "producing"
    stream.send(more)
    server.clock.advance(1)
    the_stream(stream).send(b"data: x\n\n")
    assert stream.received() == b"data: x\n\n"
    assert not stream.transport.disconnecting
    stream.close()
    assert len(server.hub) == 0

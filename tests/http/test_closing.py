"""Closing connections, with real sockets: every socket is closed after its last response."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ._listening_site import BODY, KINDS, Site, request_bytes

KEEP = request_bytes()

CLOSE = request_bytes("1.1", "Connection: close")

POST = b"POST /large HTTP/1.1\r\nHost: localhost\r\n"

ENDS = {
    "Connection: close": (CLOSE, 1),
    "HTTP/1.0": (request_bytes("1.0"), 1),
    "HTTP/1.0, keep-alive": (request_bytes("1.0", "Connection: keep-alive"), 1),
    "pipelined": (KEEP * 4 + CLOSE, 5),
    "bytes after the last request": (CLOSE + KEEP * 20, 1),
    "invalid request after a response": (KEEP + b"nonsense\r\n\r\n", 1),
    "invalid request after several responses": (KEEP * 3 + b"GET / HTTP/9.9\r\n\r\n", 3),
    "Content-Length too large": (POST + b"Content-Length: 900000\r\n\r\n" + b"x" * 200_000, 0),
    "chunked body too large": (POST + b"Transfer-Encoding: chunked\r\n\r\n20000\r\n" + b"x" * 200_000, 0),
    "head too large": (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 200_000, 0),
}
"""Data after which the server closes, and the number of complete responses before that."""


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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ENDS)
def test_reading_client_receives_everything_and_the_socket_is_closed(
    sites: Callable[..., Site], kind: str, name: str
) -> None:
    raw, responses = ENDS[name]
    site = sites(kind)
    client = site.open()
    site.send(client, raw)
    received = site.read(client)
    assert received.count(BODY) == responses
    assert b"\r\nConnection: close\r\n" in received[-len(BODY) - 1_000 :]
    # The client keeps its end of the connection open.
    site.advance(3)
    site.wait_until_closed()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ENDS)
def test_a_client_that_does_not_read_is_disconnected(sites: Callable[..., Site], kind: str, name: str) -> None:
    site = sites(kind)
    client = site.open()
    site.send(client, ENDS[name][0])
    site.advance(40)
    site.wait_until_closed()
    assert client.fileno() != -1


@pytest.mark.parametrize("kind", KINDS)
def test_socket_is_closed_when_the_client_closes_with_unread_responses(sites: Callable[..., Site], kind: str) -> None:
    site = sites(kind)
    for raw in (KEEP * 10, CLOSE):
        client = site.open()
        site.send(client, raw)
        site.read(client, 1)
        client.close()
    site.advance(1)
    site.wait_until_closed()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("raw", [KEEP, CLOSE, KEEP * 3])
def test_socket_is_closed_after_the_client_shuts_down_writing(
    sites: Callable[..., Site], kind: str, raw: bytes
) -> None:
    site = sites(kind)
    client = site.open()
    site.send(client, raw)
    socket.socket.shutdown(client, socket.SHUT_WR)
    site.read(client)
    site.advance(3)
    site.wait_until_closed()


@pytest.mark.parametrize("kind", KINDS)
def test_idle_client_is_disconnected_after_a_large_response(sites: Callable[..., Site], kind: str) -> None:
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
    site.wait_until_closed()


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
    site.wait_until_closed()


@pytest.mark.parametrize("kind", KINDS)
def test_requests_of_a_client_that_does_not_read_wait(sites: Callable[..., Site], kind: str) -> None:
    site = sites(kind)
    client = site.open()
    site.send(client, KEEP * 10)
    site.wait_for(lambda: site.served)
    site.advance(1)
    assert site.served == 1
    received = site.read(client, 10 * len(BODY))
    while received.count(BODY) < 10:
        received += site.read(client, 1)
    assert received.count(BODY) == site.served == 10


def test_client_that_does_not_complete_the_tls_handshake_is_disconnected(sites: Callable[..., Site]) -> None:
    site = sites("tls")
    silent, started = site.connect(), site.connect()
    started.send(b"\x16\x03\x01\x02\x00\x01")
    site.wait_for(lambda: site.sockets == 2)
    site.advance(1)
    assert site.sockets == 2
    site.advance(110)
    site.wait_until_closed()
    assert silent.fileno() != -1


@pytest.mark.parametrize("kind", KINDS)
def test_a_connection_above_the_limit_is_closed(sites: Callable[..., Site], kind: str) -> None:
    site = sites(kind, limit=1)
    first = site.open()
    site.wait_for(lambda: len(site.connections) == 1)
    second = site.connect()
    assert site.read(second) == b""
    site.wait_for(lambda: site.sockets == 1)
    assert len(site.connections) == 1
    first.close()
    site.advance(1)
    site.wait_until_closed()


@pytest.mark.parametrize("kind", KINDS)
def test_a_response_that_cannot_be_sent_closes_the_connection(
    sites: Callable[..., Site], kind: str, logged_failures: list[Any]
) -> None:
    site = sites(kind)
    client = site.open()
    site.send(client, request_bytes(path="/broken"))
    site.read(client)
    site.advance(3)
    site.wait_until_closed()
    assert len(logged_failures) == 1
    logged_failures.clear()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reads", [True, False])
def test_a_stopping_server_closes_large_responses(sites: Callable[..., Site], kind: str, reads: bool) -> None:
    site = sites(kind)
    large, slow = site.open(), site.open()
    site.send(large, KEEP * 3)
    site.send(slow, request_bytes(path="/slow"))
    site.wait_for(lambda: site.served and site.slow)
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
    if reads:
        site.wait_for(lambda: site.sockets == 0)


@pytest.mark.parametrize("kind", KINDS)
def test_queued_bytes_of_all_clients_are_limited(sites: Callable[..., Site], kind: str) -> None:
    site = sites(kind, queued=4 * len(BODY))
    clients = []
    for _ in range(10):
        clients.append(site.open())
        site.send(clients[-1], KEEP)
    # The clients that have read nothing for the longest time are disconnected.
    site.wait_for(lambda: (site.served, site.sockets) == (10, 3))
    assert site.connections.budget.total <= 4 * len(BODY)
    received = site.read(clients[-1], len(BODY))
    assert BODY[:500_000] in received
    for each in clients[:7]:
        with pytest.raises((ConnectionError, ssl.SSLError)):
            site.run_until(lambda: each.send(KEEP))  # noqa: B023

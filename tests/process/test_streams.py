"""Event streams over TCP, TLS and UNIX sockets; the stop of the process; slow readers."""

from __future__ import annotations

import re
import resource
import signal
import socket
import sqlite3
import ssl
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from ._certificates import certificate
from .conftest import FOREGROUND, LISTEN, MCP, TIMEOUT, Installation, Server, run_server, until

pytestmark = pytest.mark.process

CHANGES = "/api/open/v1/changes"


@contextmanager
def serving(installation: Installation, *listen: str, **settings: object) -> Iterator[Server]:
    """Run a server with `settings` of the section `streams`."""
    endpoints = [part for each in listen or (LISTEN,) for part in ("-l", each)]
    options = [part for name, value in settings.items() for part in ("--set", f"streams.{name}={value}")]
    arguments: list[object] = [*FOREGROUND, "directory", "-d", installation.data, *endpoints, *options]
    with run_server(arguments, installation.folder) as server:
        yield server


def request_stream(connection: socket.socket, key: str, path: str = MCP) -> None:
    """Send a request for an event stream."""
    head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\nAccept: text/event-stream\r\n\r\n"
    connection.sendall(head.encode())


def begin_post(port: int, key: str, length: int) -> socket.socket:
    """Send the head of a POST with a body of `length` bytes; return the connection once the server waits for it."""
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(
        f"POST {MCP} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\nExpect: 100-continue\r\n"
        f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n".encode()
    )
    assert read_until(connection, b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
    return connection


def read_until(connection: socket.socket, text: bytes, count: int = 1) -> bytes:
    """Read until `text` was received `count` times."""
    connection.settimeout(TIMEOUT)
    read = b""
    while read.count(text) < count:
        data = connection.recv(65536)
        assert data, read
        read += data
    return read


def read_to_the_end(connection: socket.socket) -> bytes:
    connection.settimeout(TIMEOUT)
    read = b""
    while data := connection.recv(65536):
        read += data
    return read


def test_requests_in_progress_are_finished_before_the_process_ends(installation: Installation) -> None:
    key = installation.new_key()
    with serving(installation, grace=TIMEOUT) as server:
        streams = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(10)]
        for each in streams:
            request_stream(each, key)
            read_until(each, b": \n\n")
        body = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
        slow = begin_post(server.port, key, len(body))
        slow.sendall(body[:10])
        server.process.send_signal(signal.SIGTERM)
        retries = [re.fullmatch(rb"retry: (\d+)\n\n", read_to_the_end(each)) for each in streams]
        # The server no longer accepts connections, and waits for the rest of the request.
        until(lambda: is_refused(server.port), "the end of listening")
        assert server.process.poll() is None
        # A second signal changes nothing.
        server.process.send_signal(signal.SIGTERM)
        slow.sendall(body[10:])
        response = read_to_the_end(slow)
        server.process.wait(TIMEOUT)
    assert b" 200 OK" in response
    assert response.endswith(b"}")
    assert counted_requests(installation) == len(streams) + 1
    assert len({retry[1] for retry in retries if retry}) > 5
    assert "Traceback" not in server.log.read_text()
    assert "before their responses were sent" not in server.log.read_text()


def counted_requests(installation: Installation) -> int:
    """Return the number of requests in the statistics."""
    with closing(sqlite3.connect(installation.data / "statistics.db")) as database:
        return int(
            database.execute("SELECT sum(total) FROM statistic_count WHERE kind = 'requests'").fetchone()[0] or 0
        )


def is_refused(port: int) -> bool:
    """Return whether a connection to `port` is refused."""
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except ConnectionRefusedError:
        return True
    return False


def test_stop_waits_for_requests_no_longer_than_the_grace_period(installation: Installation) -> None:
    key = installation.new_key()
    with serving(installation, grace=0.5) as server, begin_post(server.port, key, 9):
        log = server.stop()
    assert "1 connection closed before the response was sent" in log


def test_limit_of_open_files_is_raised_to_the_hard_limit(installation: Installation) -> None:
    with serving(installation, total=1_000_000) as server:
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        sockets = hard - min(256, hard // 2)
        line = (
            f"Limit of open files: {hard:,}. Connections: at most {sockets:,}, "
            f"of these at most {min(1_000_000, sockets * 3 // 4):,} streams."
        )
        assert line in server.log.read_text()
        limits = Path(f"/proc/{server.process.pid}/limits").read_text()
        assert re.search(rf"Max open files +{hard} +{hard}", limits)


def test_stream_over_a_unix_socket(installation: Installation) -> None:
    key, path = installation.new_key(), installation.folder / "s"
    with serving(installation, f"unix:{path}", LISTEN) as server, socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        request_stream(connection, key)
        read_until(connection, b": \n\n")
        server.process.send_signal(signal.SIGTERM)
        assert read_to_the_end(connection).startswith(b"retry: ")
        server.stop()


def test_stream_over_tls(installation: Installation) -> None:
    pytest.importorskip("OpenSSL")
    key, pem = installation.new_key(), certificate(installation.folder)
    context = ssl.create_default_context(cafile=str(pem))
    with serving(installation, LISTEN, f"ssl:0:interface=127.0.0.1:privateKey={pem}", heartbeat=0.5) as server:
        port = int(re.findall(r"DirectorySite \(TLS\) starting on (\d+)", server.log.read_text())[0])
        with context.wrap_socket(socket.create_connection(("127.0.0.1", port)), server_hostname="localhost") as stream:
            request_stream(stream, key)
            read_until(stream, b": \n\n" * 2)
            server.process.send_signal(signal.SIGTERM)
            # Raises SSLError if the connection ends without a close_notify alert.
            assert re.fullmatch(rb"(: \n\n)*retry: \d+\n\n", read_to_the_end(stream))
        server.stop()

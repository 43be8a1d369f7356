"""Streams over real sockets: TCP, TLS and UNIX; the end of the process; readers who do not read."""

from __future__ import annotations

import re
import resource
import signal
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ._certificates import certificate
from .conftest import FOREGROUND, LISTEN, MCP, TIMEOUT, Installation, Server, entry_line, run_server, until

pytestmark = pytest.mark.process

CHANGES = "/api/open/v1/changes"


@contextmanager
def serving(installation: Installation, *listen: str, **settings: object) -> Iterator[Server]:
    """Run a server with settings of `streams`."""
    endpoints = [part for each in listen or (LISTEN,) for part in ("-l", each)]
    more = [part for name, value in settings.items() for part in ("--set", f"streams.{name}={value}")]
    arguments: list[object] = [*FOREGROUND, "directory", "-d", installation.data, *endpoints, *more]
    with run_server(arguments, installation.folder) as server:
        yield server


def ask(connection: socket.socket, key: str, path: str = MCP) -> None:
    """Ask for a stream."""
    head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\nAccept: text/event-stream\r\n\r\n"
    connection.sendall(head.encode())


def read_until(connection: socket.socket, text: bytes) -> bytes:
    connection.settimeout(TIMEOUT)
    read = b""
    while text not in read:
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


def test_what_is_under_way_is_finished_before_the_end(installation: Installation) -> None:
    key = installation.new_key()
    with serving(installation) as server:
        streams = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(10)]
        for each in streams:
            ask(each, key)
            read_until(each, b"retry: 3000\n\n")
        body = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
        late = socket.create_connection(("127.0.0.1", server.port))
        late.sendall(
            f"POST {MCP} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        )
        late.sendall(body[:10])
        time.sleep(0.2)
        server.process.send_signal(signal.SIGTERM)
        retries = [re.fullmatch(rb"retry: (\d+)\n\n", read_to_the_end(each)) for each in streams]
        # It listens no more, and waits for the rest of a request.
        until(lambda: refuses(server.port), "the end of listening")
        assert server.process.poll() is None
        late.sendall(body[10:])
        answer = read_to_the_end(late)
        server.process.wait(TIMEOUT)
    assert b" 200 OK" in answer
    assert answer.endswith(b"}")
    assert len({retry[1] for retry in retries if retry}) > 5
    assert "Traceback" not in server.log.read_text()
    assert "cut" not in server.log.read_text()


def refuses(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except ConnectionRefusedError:
        return True
    return False


def test_the_end_does_not_wait_longer_than_it_is_told(installation: Installation) -> None:
    with serving(installation, grace=0.5) as server:
        half = socket.create_connection(("127.0.0.1", server.port))
        half.sendall(f"POST {MCP} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n".encode())
        time.sleep(0.2)
        log = server.stop()
        half.close()
    assert "1 connections are closed before their responses were sent" in log


def test_as_many_files_may_be_open_as_the_system_allows(installation: Installation) -> None:
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


def test_a_reader_who_does_not_read_is_cut_and_disturbs_nobody(installation: Installation) -> None:
    key = installation.new_key()
    with serving(installation, stall=1, heartbeat=1) as server:
        readers = []
        for size in (1 << 20, 4096):
            reader = socket.socket()
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)
            reader.connect(("127.0.0.1", server.port))
            ask(reader, key, CHANGES)
            readers.append(reader)
        good, bad = readers
        read_until(good, b"retry: 3000\n\n")
        many = "".join(entry_line(f"a.example/{number}", "x" * 2_000) for number in range(400))
        installation.command("import", "-", stdin=many)
        read = b""
        while read.count(b"event: entry.added") < 400:
            read += good.recv(65536)
        until(lambda: is_cut(bad), "the cut")
        installation.command("import", "-", stdin=entry_line("a.example/last"))
        assert read_until(good, b"a.example/last")
        assert "Traceback" not in server.stop()


def is_cut(connection: socket.socket) -> bool:
    """Tell, without reading, whether the other side has broken a connection off, of which it need not have told us."""
    try:
        connection.send(b"x")
    except OSError:
        return True
    return False


def test_a_stream_over_a_unix_socket(installation: Installation) -> None:
    key, path = installation.new_key(), installation.folder / "s"
    with serving(installation, f"unix:{path}", LISTEN) as server, socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        ask(connection, key)
        read_until(connection, b"retry: 3000\n\n")
        server.process.send_signal(signal.SIGTERM)
        assert read_to_the_end(connection).startswith(b"retry: ")
        assert "Traceback" not in server.stop()


def test_a_stream_over_tls(installation: Installation) -> None:
    pytest.importorskip("OpenSSL")
    key, pem = installation.new_key(), certificate(installation.folder)
    context = ssl.create_default_context(cafile=str(pem))
    with serving(installation, LISTEN, f"ssl:0:interface=127.0.0.1:privateKey={pem}", heartbeat=0.5) as server:
        port = int(re.findall(r"DirectorySite \(TLS\) starting on (\d+)", server.log.read_text())[0])
        with context.wrap_socket(socket.create_connection(("127.0.0.1", port)), server_hostname="localhost") as stream:
            ask(stream, key)
            read_until(stream, b"retry: 3000\n\n")
            read_until(stream, b": \n\n")
            server.process.send_signal(signal.SIGTERM)
            # An end without the alert of TLS would raise.
            assert re.fullmatch(rb"(: \n\n)*retry: \d+\n\n", read_to_the_end(stream))
        assert "Traceback" not in server.stop()

"""A closed loop of HTTP/1.1 clients: each connection sends its next request after the response to the last one.

    python -m bench.clients.http_load FILE < settings

sends each request of FILE once and prints the result as JSON. It is a separate process, so that its CPU time is not
counted as the server's. `load` starts it.
"""

from __future__ import annotations

import json
import os
import select
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from attrs import asdict, define, frozen

from ..measurement.process_stats import CpuMeter

PROJECT = Path(__file__).parents[2]


class LoadError(Exception):
    """The load generator failed, or a response reported an error."""


@frozen
class Settings:
    """Settings of a measurement.

    The first `warm` requests are not measured. No request starts later than `seconds` after them. `processes` are those
    of the server. The client runs on the core `core`, or on any if it is None.
    """

    port: int
    processes: Sequence[int]
    warm: int
    connections: int = 64
    seconds: float = 15.0
    core: int | None = None


@frozen
class Outcome:
    """The result of a measurement.

    `failed` responses do not have status 200, or report an error. `cpu` are CPU seconds of the server's processes,
    `client` those of the client. `p50` and `p99` are in milliseconds, `size` is the mean size of a body in bytes, and
    `first` is the first body.
    """

    requests: int
    failed: int
    seconds: float
    cpu: float
    client: float
    p50: float
    p99: float
    size: int
    first: str


def load(requests: Sequence[bytes], settings: Settings) -> Outcome:
    """Send `requests` from a separate process and return the outcome. Raises LoadError."""
    with tempfile.NamedTemporaryFile() as file:
        save(requests, Path(file.name))
        done = subprocess.run(
            [sys.executable, "-m", "bench.clients.http_load", file.name],
            input=json.dumps(asdict(settings)),
            capture_output=True,
            text=True,
            cwd=PROJECT,
        )
    if done.returncode:
        raise LoadError(done.stderr.strip().splitlines()[-1])
    outcome = Outcome(**json.loads(done.stdout))
    if outcome.failed:
        raise LoadError(f"{outcome.failed} requests failed; the first response is {outcome.first[:300]}")
    return outcome


def save(requests: Sequence[bytes], file: Path) -> None:
    """Write requests to a file."""
    file.write_bytes(b"".join(struct.pack("!I", len(request)) + request for request in requests))


def restore(file: Path) -> Iterator[bytes]:
    """Yield the requests of a file."""
    data, place = file.read_bytes(), 0
    while place < len(data):
        (length,) = struct.unpack_from("!I", data, place)
        yield data[place + 4 : place + 4 + length]
        place += 4 + length


@define(eq=False)
class Client:
    """One connection."""

    port: int
    socket: socket.socket | None = None
    received: bytes = b""
    began: float = 0.0

    def send(self, request: bytes) -> None:
        if self.socket is None:
            self.socket = socket.create_connection(("127.0.0.1", self.port))
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.received = b""
        self.began = time.perf_counter()
        self.socket.sendall(request)

    def read(self) -> tuple[bytes, bytes] | None:
        """Return the head in lower case and the body of the response, or None until it is complete."""
        assert self.socket is not None
        piece = self.socket.recv(262_144)
        if not piece:
            raise ConnectionResetError("the server closed a connection before its response")
        self.received += piece
        head, blank, body = self.received.partition(b"\r\n\r\n")
        if not blank:
            return None
        head = head.lower()
        _, announced, length = head.partition(b"\r\ncontent-length: ")
        complete = len(body) >= int(length.split(b"\r\n", 1)[0]) if announced else body.endswith(b"0\r\n\r\n")
        return (head, body) if complete else None


def run(requests: Sequence[bytes], settings: Settings) -> Outcome:
    """Send `requests` and return the outcome of those after the first `warm`."""
    poll = select.epoll()
    clients: dict[int, Client] = {}
    remaining = iter(requests)
    for request in islice(remaining, settings.connections):
        client = Client(settings.port)
        client.send(request)
        assert client.socket is not None
        clients[client.socket.fileno()] = client
        poll.register(client.socket.fileno(), select.EPOLLIN)
    responses = failed = size = 0
    first = b""
    began, cpu, client_cpu = time.perf_counter(), CpuMeter(settings.processes), time.process_time()
    times: list[float] = []
    waiting = len(clients)
    end = began + settings.seconds
    while waiting:
        for number, _ in poll.poll(30):
            client = clients[number]
            response = client.read()
            if response is None:
                continue
            now = time.perf_counter()
            head, body = response
            responses += 1
            first = first or body
            if responses == settings.warm:
                began, cpu, client_cpu = now, CpuMeter(settings.processes), time.process_time()
                end, times, failed, size = now + settings.seconds, [], 0, 0
            else:
                failed += not head.startswith(b"http/1.1 200 ") or b'"isError":true' in body
                times.append(now - client.began)
                size += len(body)
            following = next(remaining, None) if now < end or responses < settings.warm else None
            if following is None:
                waiting -= 1
                continue
            if b"\r\nconnection: close" in head:
                raise ConnectionResetError("the server closes connections, but the measurement keeps them open")
            client.send(following)
    seconds, server_cpu = time.perf_counter() - began, cpu.seconds()
    times.sort()
    return Outcome(
        len(times),
        failed,
        seconds,
        server_cpu,
        time.process_time() - client_cpu,
        times[len(times) // 2] * 1000,
        times[len(times) * 99 // 100] * 1000,
        size // len(times),
        first.decode("utf-8", "replace"),
    )


def main(file: str, settings: dict[str, Any]) -> None:
    chosen = Settings(**settings)
    if chosen.core is not None:
        os.sched_setaffinity(0, {chosen.core})
    print(json.dumps(asdict(run(list(restore(Path(file))), chosen))))


if __name__ == "__main__":
    main(sys.argv[1], json.load(sys.stdin))

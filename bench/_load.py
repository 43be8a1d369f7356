"""A closed loop of HTTP/1.1 clients in one process: each connection sends its next request when it has its answer.

    python -m bench._load FILE < settings

sends the requests of FILE, each once, and prints what came of it as JSON. It is a process of its own so that what it
costs is not taken for what the server costs.
"""

from __future__ import annotations

import json
import os
import select
import socket
import struct
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from attrs import asdict, define, frozen

_TICK = os.sysconf("SC_CLK_TCK")


@frozen
class Settings:
    """What to do: `warm` requests go before the measurement; `processes` are the server's, `cpu` is for this one."""

    port: int
    processes: Sequence[int]
    warm: int
    connections: int = 64
    seconds: float = 15.0
    cpu: int | None = None


@frozen
class Outcome:
    """What came of it: `failed` are answers that are not 200 or report an error; `size` is bytes of a body.

    `cpu` are seconds of the server's processes, `client` of this one; p50 and p99 are in milliseconds.
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


def save(requests: Sequence[bytes], file: Path) -> None:
    """Write requests to a file."""
    file.write_bytes(b"".join(struct.pack("!I", len(each)) + each for each in requests))


def restore(file: Path) -> Iterator[bytes]:
    data, place = file.read_bytes(), 0
    while place < len(data):
        (length,) = struct.unpack_from("!I", data, place)
        yield data[place + 4 : place + 4 + length]
        place += 4 + length


def spent(processes: Sequence[int]) -> float:
    """Return the CPU seconds of processes and of the children they have seen end (proc_pid_stat(5))."""
    stats = [Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split() for each in processes]
    return sum(int(ticks) for fields in stats for ticks in fields[11:15]) / _TICK


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
        """Return the head and the body of the answer, once they are there to the end."""
        assert self.socket is not None
        piece = self.socket.recv(262_144)
        if not piece:
            raise ConnectionResetError("the server closed a connection before it had answered")
        self.received += piece
        head, blank, body = self.received.partition(b"\r\n\r\n")
        if not blank:
            return None
        head = head.lower()
        _, announced, length = head.partition(b"\r\ncontent-length: ")
        over = len(body) >= int(length.split(b"\r\n", 1)[0]) if announced else body.endswith(b"0\r\n\r\n")
        return (head, body) if over else None


def run(requests: Sequence[bytes], settings: Settings) -> Outcome:
    """Send `requests` and return what came of those behind the first `warm`."""
    poll = select.epoll()
    clients: dict[int, Client] = {}
    coming = iter(requests)
    for request, _ in zip(coming, range(settings.connections), strict=False):
        client = Client(settings.port)
        client.send(request)
        assert client.socket is not None
        clients[client.socket.fileno()] = client
        poll.register(client.socket.fileno(), select.EPOLLIN)
    answered = failed = size = 0
    first = b""
    began, cpu, client_cpu = time.perf_counter(), spent(settings.processes), time.process_time()
    times: list[float] = []
    waiting = len(clients)
    end = began + settings.seconds
    while waiting:
        for number, _ in poll.poll(30):
            client = clients[number]
            answer = client.read()
            if answer is None:
                continue
            now = time.perf_counter()
            head, body = answer
            answered += 1
            failed += not head.startswith(b"http/1.1 200 ") or b'"isError":true' in body
            if answered == settings.warm:
                began, cpu, client_cpu = now, spent(settings.processes), time.process_time()
                end, times, failed, size = now + settings.seconds, [], 0, 0
            times.append(now - client.began)
            size += len(body)
            first = first or body
            following = next(coming, None) if now < end or answered < settings.warm else None
            if following is None:
                waiting -= 1
                continue
            if b"\r\nconnection: close" in head:
                raise ConnectionResetError("the server closes its connections, and is measured with open ones")
            client.send(following)
    seconds, cpu = time.perf_counter() - began, spent(settings.processes) - cpu
    times.sort()
    return Outcome(
        len(times),
        failed,
        seconds,
        cpu,
        time.process_time() - client_cpu,
        times[len(times) // 2] * 1000,
        times[len(times) * 99 // 100] * 1000,
        size // len(times),
        first.decode("utf-8", "replace"),
    )


def main(file: str, settings: dict[str, Any]) -> None:
    chosen = Settings(**settings)
    if chosen.cpu is not None:
        os.sched_setaffinity(0, {chosen.cpu})
    print(json.dumps(asdict(run(list(restore(Path(file))), chosen))))


if __name__ == "__main__":
    main(sys.argv[1], json.load(sys.stdin))

"""Thousands of stream clients in one process: raw sockets and epoll, controlled through a pipe."""

from __future__ import annotations

import errno
import multiprocessing
import re
import resource
import select
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

from attrs import define, field, frozen

SOURCES = 32
"""Client addresses from 127.0.0.2 on, so that no address runs out of ports or exceeds a limit."""

PATIENCE = 120.0
"""Seconds after which a client that has not received the expected data counts as an error."""

_BIND_ADDRESS_NO_PORT = 24  # ip(7)
_LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d+)")


@frozen
class StreamRequest:
    """How a client opens a stream: it sends `stream`, with its key in place of KEY, and waits for `opened`."""

    port: int
    stream: bytes
    opened: bytes
    keys: Sequence[str] = ("",)


@define(eq=False)
class _Reader:
    socket: socket.socket
    number: int
    stage: str = "connecting"
    received: bytes = b""


@define
class _Clients:
    """The clients, in a separate process."""

    stream_request: StreamRequest
    poll: select.epoll = field(factory=select.epoll)
    readers: dict[int, _Reader] = field(factory=dict)
    connections: int = 0

    def open(self, count: int, window: int) -> dict[str, Any]:
        """Open `count` streams, `window` at a time."""
        began, cpu, errors = time.monotonic(), _cpu(), 0
        to_open, pending = count, 0
        while to_open or pending:
            while to_open and pending < window:
                self._connect()
                to_open, pending = to_open - 1, pending + 1
            events = self.poll.poll(5.0)
            if time.monotonic() - began > PATIENCE:
                errors += to_open + pending
                break
            for number, event in events:
                reader = self.readers.get(number)
                if reader is None or reader.stage == "open":
                    continue
                try:
                    if self._step(reader, event):
                        pending -= 1
                except OSError:
                    self._drop(reader)
                    errors, pending = errors + 1, pending - 1
        return {"seconds": time.monotonic() - began, "errors": errors, "cpu": _cpu() - cpu}

    def await_all(self, token: bytes, others: Sequence[int] = ()) -> dict[str, Any]:
        """Wait until every client has received `token`; return the times, in seconds of the monotonic clock."""
        began, cpu = time.monotonic(), _cpu()
        missing = {number for number in self.readers if number not in others}
        arrived: list[float] = []
        while missing and time.monotonic() - began < PATIENCE:
            for number, _ in self.poll.poll(5.0):
                reader = self.readers[number]
                data = self._read(reader)
                if data is None:
                    missing.discard(number)
                elif token in reader.received[-200:] + data:
                    arrived.append(time.monotonic())
                    missing.discard(number)
                    reader.received = b""
                else:
                    reader.received = data[-200:]
        return {"arrived": arrived, "missing": len(missing), "cpu": _cpu() - cpu}

    def stall(self, count: int) -> None:
        """Let the first `count` clients stop reading."""
        for reader in list(self.readers.values())[:count]:
            self.poll.unregister(reader.socket)
            reader.stage = "stalled"

    def stalled(self) -> list[int]:
        return [number for number, reader in self.readers.items() if reader.stage == "stalled"]

    def idle(self, seconds: float) -> int:
        """Read and discard data for `seconds`; return the number of clients that are still connected."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            for number, _ in self.poll.poll(left):
                self._read(self.readers[number])
        return len(self.readers)

    def probe(self, port: int, request: bytes, seconds: float, pause: float) -> list[float]:
        """Send `request` repeatedly on a separate connection, with pauses; return the response times in seconds."""
        took: list[float] = []
        end = time.monotonic() + seconds
        with socket.create_connection(("127.0.0.1", port)) as connection:
            while time.monotonic() < end:
                began = time.monotonic()
                connection.sendall(request)
                response = connection.recv(65536)
                while len(response.partition(b"\r\n\r\n")[2]) < int(_LENGTH.search(response)[1]):  # type: ignore[index]
                    response += connection.recv(65536)
                took.append(time.monotonic() - began)
                time.sleep(pause)
        return took

    def close(self, count: int = 0) -> None:
        """Close the first `count` connections, or all."""
        for reader in list(self.readers.values())[: count or None]:
            self._drop(reader)

    def _connect(self) -> None:
        client = socket.socket()
        client.setblocking(False)
        client.setsockopt(socket.SOL_IP, _BIND_ADDRESS_NO_PORT, 1)
        client.bind((f"127.0.0.{2 + self.connections % SOURCES}", 0))
        self.connections += 1
        result = client.connect_ex(("127.0.0.1", self.stream_request.port))
        if result not in (0, errno.EINPROGRESS):
            raise OSError(result, errno.errorcode[result])
        self.readers[client.fileno()] = _Reader(client, self.connections)
        self.poll.register(client, select.EPOLLOUT)

    def _step(self, reader: _Reader, event: int) -> bool:
        if reader.stage == "connecting":
            self.poll.modify(reader.socket, select.EPOLLIN)
            self._send(reader)
            return False
        data = reader.socket.recv(65536)
        if not data:
            raise OSError(errno.ECONNRESET, "closed")
        reader.received += data
        if b" 200 " not in reader.received[:15]:
            raise OSError(errno.ECONNREFUSED, reader.received[:200])
        if reader.stage == "requested" and self.stream_request.opened in reader.received:
            reader.stage, reader.received = "open", b""
            return True
        return False

    def _send(self, reader: _Reader) -> None:
        keys = self.stream_request.keys
        reader.stage = "requested"
        reader.socket.send(self.stream_request.stream.replace(b"KEY", keys[reader.number % len(keys)].encode()))

    def _read(self, reader: _Reader) -> bytes | None:
        try:
            data = reader.socket.recv(65536)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        if not data:
            self._drop(reader)
            return None
        return data

    def _drop(self, reader: _Reader) -> None:
        del self.readers[reader.socket.fileno()]
        reader.socket.close()


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _run(stream_request: StreamRequest, pipe: Connection) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    clients = _Clients(stream_request)
    while (command := pipe.recv()) is not None:
        name, arguments = command
        pipe.send(getattr(clients, name)(*arguments))


@frozen
class StreamClients:
    """Controls the clients."""

    pipe: Connection

    def __call__(self, name: str, *arguments: Any) -> Any:
        """Run a method of the clients and return its result."""
        self.start(name, *arguments)
        return self.pipe.recv()

    def start(self, name: str, *arguments: Any) -> None:
        """Start a method of the clients; `result` waits for its end."""
        self.pipe.send((name, arguments))

    def result(self) -> Any:
        return self.pipe.recv()


@contextmanager
def stream_clients(stream_request: StreamRequest) -> Iterator[StreamClients]:
    """Start the client process; it has no open streams yet."""
    context = multiprocessing.get_context("spawn")
    own_end, client_end = context.Pipe()
    process = context.Process(target=_run, args=(stream_request, client_end), daemon=True)
    process.start()
    client_end.close()
    try:
        yield StreamClients(own_end)
        own_end.send(None)
    finally:
        process.join(10)
        process.kill()

"""The directory server with keys for a number of streams, in a separate process."""

from __future__ import annotations

import http.client
import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import frozen

from ..clients.stream_clients import StreamRequest
from ..measurement.process_stats import cpu_seconds, memory
from .data_directory import create_keys
from .instrumented_server import instrumented
from .launch import free_port

PER_KEY = 8
"""Streams of one key. It is half of the limit, so that a client may reconnect before its old stream is closed."""


@frozen
class StreamServer:
    """A running server on `folder`: the request that opens a stream, another request, and the control port."""

    processes: Sequence[int]
    stream_request: StreamRequest
    probe: bytes
    control_port: int
    folder: Path

    def failures(self) -> int:
        """Return the number of tracebacks in the server's log."""
        return (self.folder / "log").read_text().count("Traceback")

    def publish(self, event: bytes) -> None:
        """Make the server send `event` to all streams."""
        self._control("POST", "/", event)

    def control(self, query: str = "") -> Any:
        """Return the state of the server (see `instrumented_server`)."""
        return json.loads(self._control("GET", f"/?{query}"))

    def memory(self) -> int:
        """Return the resident memory in bytes."""
        return sum(map(memory, self.processes))

    def cpu(self) -> float:
        """Return the CPU seconds used so far."""
        return cpu_seconds(self.processes)

    def _control(self, method: str, path: str, body: bytes | None = None) -> bytes:
        connection = http.client.HTTPConnection("127.0.0.1", self.control_port, timeout=120)
        connection.request(method, path, body)
        response = connection.getresponse().read()
        connection.close()
        return response


@contextmanager
def directory_streams(streams: int) -> Iterator[StreamServer]:
    """Run the directory server with keys for `streams` streams."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        keys = create_keys(folder, -(-streams // PER_KEY), None)
        port = free_port()
        probe = _get("/api/open/v1/search?keywords=postgres", f"Authorization: Bearer {keys[0]}")
        stream = _get("/api/open/mcp", "Authorization: Bearer KEY", "Accept: text/event-stream")
        options = ("-d", name, "-l", f"tcp:{port}:interface=127.0.0.1")
        with instrumented(*options, log=folder / "log") as (process, control_port):
            stream_request = StreamRequest(port, stream, b"\r\n\r\n: \n\n", keys=keys)
            yield StreamServer([process], stream_request, probe, control_port, folder)


def _get(path: str, *headers: str) -> bytes:
    return "\r\n".join([f"GET {path} HTTP/1.1", "Host: localhost:1", *headers, "", ""]).encode()

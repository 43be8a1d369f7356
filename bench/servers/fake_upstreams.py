"""Upstream registries: one that serves a file of entries, and one whose responses are faulty.

    python -m bench.servers.fake_upstreams FILE

serves FILE in pages of 100 entries, and 200 changed entries to clients that send `updated_since`. It prints its port.
GET /requests returns the number of pages that were requested since the last such request, and the time of the first
one in seconds since the epoch.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count, cycle
from pathlib import Path
from threading import Thread
from typing import Any

import orjson
from twisted.web.resource import Resource
from twisted.web.server import Request, Site

from .launch import PROJECT

PAGE = 100

CHANGED = 200


class Registry(Resource):
    """The list endpoint of a registry."""

    isLeaf = True

    def __init__(self, file: str) -> None:
        super().__init__()
        with gzip.open(file) if file.endswith(".gz") else open(file, "rb") as lines:
            entries = [line.strip() for line in lines]
        changed = [orjson.loads(line) for line in entries[:CHANGED]]
        for each in changed:
            each["server"]["description"] += " (changed)"
        self._entries = entries
        self._changed = [orjson.dumps(each) for each in changed]
        self._times: list[float] = []

    def render_GET(self, request: Request) -> bytes:
        if request.path == b"/requests":
            times, self._times = self._times, []
            return f"{len(times)} {times[0] if times else 0}".encode()
        self._times.append(time.time())
        entries = self._changed if b"updated_since" in request.args else self._entries
        start = int(request.args.get(b"cursor", [b"0"])[0])
        page, end = entries[start : start + PAGE], start + PAGE
        more = b',"nextCursor":"%d"' % end if end < len(entries) else b""
        return b'{"servers":[' + b",".join(page) + b'],"metadata":{"count":%d%b}}' % (len(page), more)


@contextmanager
def registry(file: Path) -> Iterator[int]:
    """Serve `file` in a separate process; yield the port."""
    command = [sys.executable, "-m", "bench.servers.fake_upstreams", str(file.absolute())]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=PROJECT) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


class _FaultyHandler(BaseHTTPRequestHandler):
    """Responds to each request with the next fault."""

    _numbers = count()

    def do_GET(self) -> None:
        with suppress(OSError):
            next(_FAULTS)(self)

    def log_message(self, format: str, *args: object) -> None:
        pass

    def endless_headers(self) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        for number in count():
            self.wfile.write(b"X-%d: %b\r\n" % (number, b"a" * 8_000))

    def empty_arrays(self) -> None:
        self._respond(b'{"servers": [' + b"[]," * 1_300_000 + b"[]]}")

    def endless_entries(self) -> None:
        number = next(self._numbers)
        names = [f"endless.example/{number}-{each}" for each in range(1_000)]
        servers = [{"server": {"name": name, "version": "1", "description": "x" * 500}} for name in names]
        self._respond(json.dumps({"servers": servers, "metadata": {"nextCursor": str(number)}}).encode())

    def garbage(self) -> None:
        self._respond(b"\xff\x00<html>")

    def truncated_body(self) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n{")

    def _respond(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


_FAULTS: Iterator[Callable[[_FaultyHandler], None]] = cycle(
    [
        _FaultyHandler.endless_headers,
        _FaultyHandler.empty_arrays,
        *[_FaultyHandler.endless_entries] * 5,
        _FaultyHandler.garbage,
        _FaultyHandler.truncated_body,
    ]
)


@contextmanager
def faulty_upstreams(count: int) -> Iterator[str]:
    """Run a faulty registry; yield the TOML tables that configure it as `count` upstreams."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _FaultyHandler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield "".join(
            f'[[upstream]]\nname = "bad{number}"\nurl = "http://127.0.0.1:{server.server_port}/{number}"\n'
            f"interval = 60\nmax_entries = 2000\n"
            for number in range(count)
        )
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def main(file: str) -> None:
    from twisted.internet import reactor as _reactor

    reactor: Any = _reactor
    print(reactor.listenTCP(0, Site(Registry(file)), interface="127.0.0.1").getHost().port, flush=True)
    reactor.run()


if __name__ == "__main__":
    main(*sys.argv[1:])

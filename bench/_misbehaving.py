"""A registry that does something else wrong with each request."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count, cycle
from threading import Thread


class _Handler(BaseHTTPRequestHandler):
    _numbers = count()

    def do_GET(self) -> None:
        with suppress(OSError):
            next(_FAULTS)(self)

    def log_message(self, format: str, *args: object) -> None:
        pass

    def headers_without_end(self) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        for number in count():
            self.wfile.write(b"X-%d: %b\r\n" % (number, b"a" * 8_000))

    def empty_arrays(self) -> None:
        self._answer(b'{"servers": [' + b"[]," * 1_300_000 + b"[]]}")

    def entries_without_end(self) -> None:
        number = next(self._numbers)
        names = [f"endless.example/{number}-{each}" for each in range(1_000)]
        servers = [{"server": {"name": name, "version": "1", "description": "x" * 500}} for name in names]
        self._answer(json.dumps({"servers": servers, "metadata": {"nextCursor": str(number)}}).encode())

    def garbage(self) -> None:
        self._answer(b"\xff\x00<html>")

    def broken_off(self) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n{")

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


_FAULTS: Iterator[Callable[[_Handler], None]] = cycle(
    [
        _Handler.headers_without_end,
        _Handler.empty_arrays,
        *[_Handler.entries_without_end] * 5,
        _Handler.garbage,
        _Handler.broken_off,
    ]
)


@contextmanager
def misbehaving(upstreams: int) -> Iterator[str]:
    """Run the registry; yield the tables of a configuration in which it is so many upstreams."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield "".join(
            f'[[upstream]]\nname = "bad{number}"\nurl = "http://127.0.0.1:{server.server_port}/{number}"\n'
            f"interval = 60\nmax_entries = 2000\n"
            for number in range(upstreams)
        )
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

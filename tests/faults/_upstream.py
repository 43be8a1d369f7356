"""A registry on a loopback port: valid, or with a fault that the test selects."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qs, urlsplit

from attrs import define, field

from ..process.conftest import Installation, run_command


@define
class Upstream:
    """State of the registry: the `names` that it serves, or a `fault`, the name of a method of its handler."""

    names: list[str] = field(factory=list)
    fault: str = ""
    requests: int = 0
    port: int = 0


@contextmanager
def upstream() -> Iterator[Upstream]:
    """Run a registry."""
    state = Upstream()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.requests += 1
            with suppress(ConnectionError):
                getattr(self, f"_{state.fault or 'page'}")()

        def log_message(self, format: str, *args: object) -> None:
            pass

        def _page(self) -> None:
            self._respond(page(state.names))

        def _endless(self) -> None:
            """Respond with new entries and a next page, without an end."""
            start = int(parse_qs(urlsplit(self.path).query).get("cursor", ["0"])[0])
            self._respond(page([f"x/{number}" for number in range(start, start + 1_000)], start + 1_000))

        def _values(self) -> None:
            """Respond with almost 4 MB of empty arrays."""
            self._respond(b'{"servers": [' + b"[]," * 1_300_000 + b"[]]}")

        def _headers(self) -> None:
            """Send headers until the client closes the connection."""
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
            for number in count():
                self.wfile.write(b"X-%d: %b\r\n" % (number, b"a" * 8_000))

        def _respond(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.port = server.server_port
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def page(names: list[str], cursor: int | None = None) -> bytes:
    """Return a page of the official registry API."""
    entries = [{"server": {"name": name, "version": "1.0.0", "description": "It rains."}} for name in names]
    metadata = {} if cursor is None else {"nextCursor": str(cursor)}
    return json.dumps({"servers": entries, "metadata": metadata}).encode()


def configured(installation: Installation, *upstreams: Upstream) -> Path:
    """Write a configuration of the `upstreams`, each limited to 500 entries; return the file."""
    file = installation.folder / "directory.toml"
    file.write_text(
        "".join(
            f'[[upstream]]\nname = "u{number}"\nurl = "http://127.0.0.1:{each.port}"\nmax_entries = 500\n'
            for number, each in enumerate(upstreams)
        )
    )
    return file


def sync(
    installation: Installation, file: Path, *options: str, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `directory-server sync` until it exits, in a process of its own, because it runs a reactor."""
    arguments = ["--data-dir", installation.data, "--config", file, "sync", *options]
    return run_command(*arguments, cwd=installation.folder, env=env)

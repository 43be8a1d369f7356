"""Servers of streams in processes of their own: ours, and those that it is compared with."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import frozen

from directory_server import sqlite
from directory_server.run_sync import run_sync
from directory_server.sqlite import SqliteKeyRing

from ._crowd import StreamRequest

PER_KEY = 8
"""Streams of one key: half as many as it may have, so that a client may come back before its old stream is missed."""

MODULES = Path(".conformance/sdk")
"""Where `make clients` puts packages of npm."""


@frozen
class Server:
    """A running server: how to ask it for a stream, what else to ask it, and where to publish."""

    pids: Sequence[int]
    stream_request: StreamRequest
    probe: bytes
    door: int
    path: str = "/"
    folder: str = ""

    def failures(self) -> int:
        """Return how many failures our own server has logged."""
        return self.log().count("Traceback") if self.folder else 0

    def log(self) -> str:
        """Return what our own server has logged so far."""
        return (Path(self.folder) / "log").read_text()

    def publish(self, frame: bytes) -> None:
        """Have the server send `frame` to all its streams."""
        connection = http.client.HTTPConnection("127.0.0.1", self.door, timeout=120)
        connection.request("POST", self.path, frame)
        connection.getresponse().read()
        connection.close()

    def look(self, query: str = "") -> bytes:
        """Return what our own server says of itself."""
        connection = http.client.HTTPConnection("127.0.0.1", self.door, timeout=120)
        connection.request("GET", f"/?{query}")
        said = connection.getresponse().read()
        connection.close()
        return said

    def rss(self) -> int:
        """Return the bytes of resident memory."""
        return sum(_status(pid, "VmRSS") for pid in self.pids) * 1024

    def cpu(self) -> float:
        """Return the seconds of processor time used so far, by the program and the kernel for it."""
        fields = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in self.pids]
        return sum(int(each[11]) + int(each[12]) for each in fields) / os.sysconf("SC_CLK_TCK")


@contextmanager
def ours(streams: int, *settings: str, configuration: str = "") -> Iterator[Server]:
    """Run the directory server, with keys for so many streams, and `configuration` as its TOML file."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "directory.toml").write_text(configuration)
        data = sqlite.DataDirectory(Path(folder), synchronous="normal")
        ring = SqliteKeyRing(data.directory, time.time)
        keys = [run_sync(ring.create("bench", limit=None, expires_at=None))[1] for _ in range(-(-streams // PER_KEY))]
        data.close()
        port, door = free_port(), free_port()
        search = _get("/api/open/v1/search?keywords=postgres", f"Authorization: Bearer {keys[0]}")
        stream = _get("/api/open/mcp", "Authorization: Bearer KEY", "Accept: text/event-stream")
        with _process(
            [sys.executable, "-m", "bench._instrumented_server", folder, str(port), str(door), *settings], door
        ) as pid:
            stream_request = StreamRequest(port, stream, b"retry: 3000\n\n", keys=keys)
            yield Server([pid], stream_request, search, door, folder=folder)


@contextmanager
def starlette(streams: int) -> Iterator[Server]:
    """Run Starlette with a queue for each stream."""
    port = free_port()
    with _process([sys.executable, "-m", "bench._asgi", "starlette", str(port)], port) as pid:
        yield Server([pid], StreamRequest(port, _get("/events"), b"retry:"), _get("/healthz"), port, "/publish")


@contextmanager
def python_sdk(streams: int) -> Iterator[Server]:
    """Run the Python SDK's own server, sessions and all."""
    port = free_port()
    with _process([sys.executable, "-m", "bench._asgi", "sdk", str(port)], port) as pid:
        yield Server([pid], _session_request(port), _get("/healthz"), port, "/publish")


@contextmanager
def typescript_sdk(streams: int) -> Iterator[Server]:
    """Run the TypeScript SDK's server, sessions and all."""
    port = free_port()
    script = Path(__file__).with_name("_sdk.mjs")
    with _process(["node", str(script), str(port), str(MODULES.absolute())], port) as pid:
        yield Server([pid], _session_request(port), _get("/healthz"), port, "/publish")


@contextmanager
def nchan(streams: int) -> Iterator[Server]:
    """Run nginx with the module nchan, one worker."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "nginx.conf"
        file.write_text(_NGINX.format(folder=folder, port=port, module=_nchan_module()))
        with _process(["nginx", "-c", str(file), "-p", folder], port) as pid:
            workers = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            stream_request = StreamRequest(port, _get("/events", "Accept: text/event-stream"), b": hi")
            yield Server([int(each) for each in workers], stream_request, _get("/healthz"), port, "/publish")


def missing(name: str) -> str:
    """Return what a server needs that is not installed here."""
    if name == "nginx + nchan" and not (shutil.which("nginx") and _nchan_module()):
        return "nginx with libnginx-mod-nchan"
    if name == "TypeScript SDK" and not (
        shutil.which("node") and (MODULES / "node_modules" / "@modelcontextprotocol" / "sdk").is_dir()
    ):
        return f"node, and @modelcontextprotocol/sdk 1 in {MODULES}, where `make clients` puts it"
    return ""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def _process(command: Sequence[str], port: int) -> Iterator[int]:
    limited = ["sh", "-c", 'ulimit -n "$(ulimit -Hn)"; exec "$@"', "sh", *command]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(limited, stdout=log, stderr=log)
        try:
            _until_it_listens(port, process)
            yield process.pid
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
            log.seek(0)
            said = log.read().decode(errors="replace")
            if "Traceback" in said:
                print(said[-3000:], file=sys.stderr)


def _until_it_listens(port: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 30
    while time.monotonic() < end and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"{process.args} did not start")


def _status(pid: int, name: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))


def _get(path: str, *headers: str) -> bytes:
    return "\r\n".join([f"GET {path} HTTP/1.1", "Host: localhost:1", *headers, "", ""]).encode()


def _session_request(port: int) -> StreamRequest:
    accept, version = "Accept: application/json, text/event-stream", "MCP-Protocol-Version: 2025-11-25"
    initialize = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    }
    session = "Mcp-Session-Id: SESSION"
    before = [_post("initialize", initialize, accept), _post("tools/list", {}, accept, version, session)]
    return StreamRequest(port, _get("/mcp", accept, version, session), b"\r\n\r\n", before)


def _post(method: str, params: Any, *headers: str) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    lines = ["POST /mcp HTTP/1.1", "Host: localhost:1", "Content-Type: application/json", *headers]
    return "\r\n".join([*lines, f"Content-Length: {len(body)}", "", body]).encode()


def _nchan_module() -> str:
    found = [path for path in map(Path, ("/usr/lib/nginx/modules", "/usr/share/nginx/modules")) if path.is_dir()]
    return next((str(each) for path in found for each in path.glob("ngx_nchan_module.so")), "")


_NGINX = """
load_module {module};
daemon off; worker_processes 1; worker_rlimit_nofile 20000; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 19000; }}
http {{
    access_log off; nchan_shared_memory_size 128M;
    server {{
        listen 127.0.0.1:{port} backlog=2048;
        nchan_channel_id all;
        location = /events {{ nchan_subscriber eventsource; nchan_subscriber_first_message newest; }}
        location = /publish {{ nchan_publisher; nchan_message_buffer_length 1; }}
        location = /healthz {{ return 200 "ok"; }}
    }}
}}
"""

"""The servers of streams in separate processes: the directory server and those that it is compared with."""

from __future__ import annotations

import http.client
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from attrs import frozen

from ..clients.stream_clients import StreamRequest
from ..measurement.process_stats import children, cpu_seconds, memory
from .data_directory import create_keys
from .launch import PROJECT, free_port, launch

PER_KEY = 8
"""Streams of one key. It is half of the limit, so that a client may reconnect before its old stream is closed."""

MODULES = PROJECT / ".conformance" / "sdk"
"""The folder in which `make clients` installs npm packages."""

PEERS = Path(__file__).parent / "peers"


@frozen
class StreamServer:
    """A running server: the request that opens a stream, another request, and where to publish.

    `folder` is the data directory of the directory server, empty for other servers.
    """

    processes: Sequence[int]
    stream_request: StreamRequest
    probe: bytes
    control_port: int
    path: str = "/"
    folder: str = ""

    def failures(self) -> int:
        """Return the number of tracebacks in the directory server's log."""
        return self.log().count("Traceback") if self.folder else 0

    def log(self) -> str:
        """Return the directory server's log."""
        return (Path(self.folder) / "log").read_text()

    def publish(self, event: bytes) -> None:
        """Make the server send `event` to all streams."""
        self._control("POST", self.path, event)

    def control(self, query: str = "") -> Any:
        """Return the state of the directory server (see `instrumented_server`)."""
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
def directory_streams(streams: int, *settings: str, configuration: str = "") -> Iterator[StreamServer]:
    """Run the directory server with keys for `streams` streams and the TOML file `configuration`."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "directory.toml").write_text(configuration)
        keys = create_keys(Path(folder), -(-streams // PER_KEY), None)
        port, control_port = free_port(), free_port()
        probe = _get("/api/open/v1/search?keywords=postgres", f"Authorization: Bearer {keys[0]}")
        stream = _get("/api/open/mcp", "Authorization: Bearer KEY", "Accept: text/event-stream")
        module = [sys.executable, "-m", "bench.servers.instrumented_server"]
        with launch([*module, folder, str(port), str(control_port), *settings], control_port) as server:
            stream_request = StreamRequest(port, stream, b"retry: 3000\n\n", keys=keys)
            yield StreamServer(server.processes, stream_request, probe, control_port, folder=folder)


@contextmanager
def starlette_streams(_: int) -> Iterator[StreamServer]:
    """Run Starlette with a queue for each stream."""
    port = free_port()
    with launch([sys.executable, PEERS / "stream_server.py", "starlette", str(port)], port) as server:
        stream_request = StreamRequest(port, _get("/events"), b"retry:")
        yield StreamServer(server.processes, stream_request, _get("/healthz"), port, "/publish")


@contextmanager
def python_sdk_streams(_: int) -> Iterator[StreamServer]:
    """Run the Python SDK's server with sessions."""
    port = free_port()
    with launch([sys.executable, PEERS / "stream_server.py", "sdk", str(port)], port) as server:
        yield StreamServer(server.processes, _session_request(port), _get("/healthz"), port, "/publish")


@contextmanager
def typescript_sdk_streams(_: int) -> Iterator[StreamServer]:
    """Run the TypeScript SDK's server with sessions."""
    port = free_port()
    with launch(["node", PEERS / "stream_server.mjs", str(port), MODULES], port) as server:
        yield StreamServer(server.processes, _session_request(port), _get("/healthz"), port, "/publish")


@contextmanager
def nchan_streams(_: int) -> Iterator[StreamServer]:
    """Run nginx with the module nchan and one worker."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "nginx.conf"
        file.write_text(_NGINX.format(folder=folder, port=port, module=_nchan_module()))
        with launch(["nginx", "-c", file, "-p", folder], port) as server:
            stream_request = StreamRequest(port, _get("/events", "Accept: text/event-stream"), b": hi")
            # The master process listens before its worker exists, which is the one that responds.
            urlopen(f"http://127.0.0.1:{port}/healthz").close()
            workers = children(server.process)
            yield StreamServer(workers, stream_request, _get("/healthz"), port, "/publish")


def requirement(name: str) -> str:
    """Return what must be installed to run a server; empty if nothing."""
    if name == "nginx + nchan" and not (shutil.which("nginx") and _nchan_module()):
        return "nginx with libnginx-mod-nchan"
    if name == "TypeScript SDK" and not (
        shutil.which("node") and (MODULES / "node_modules" / "@modelcontextprotocol" / "sdk").is_dir()
    ):
        return f"node, and @modelcontextprotocol/sdk 1 in {MODULES}, where `make clients` installs it"
    return ""


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


# Without keepalive_requests, nginx closes the connection of the probe after 1,000 requests.
_NGINX = """
load_module {module};
daemon off; worker_processes 1; worker_rlimit_nofile 20000; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 19000; }}
http {{
    access_log off; keepalive_requests 100000000; nchan_shared_memory_size 128M;
    server {{
        listen 127.0.0.1:{port} backlog=2048;
        nchan_channel_id all;
        location = /events {{ nchan_subscriber eventsource; nchan_subscriber_first_message newest; }}
        location = /publish {{ nchan_publisher; nchan_message_buffer_length 1; }}
        location = /healthz {{ return 200 "ok"; }}
    }}
}}
"""

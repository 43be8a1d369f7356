"""The servers that are compared: how each is started, and what it takes to be asked."""

from __future__ import annotations

import http.client
import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from attrs import field, frozen

from . import _page

PROJECT = Path(__file__).parents[1]
PEERS = Path(__file__).parent / "peers"
INSTALLED = PROJECT / ".bench"

_NGINX = """
daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 512; }}
http {{
    access_log off; keepalive_requests 100000000; sendfile on; default_type application/json;
    client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder};
    uwsgi_temp_path {folder}; scgi_temp_path {folder};
    server {{ listen 127.0.0.1:{port}; root {folder}; location / {{ try_files /page.json =404; }} }}
}}
"""


@frozen
class Peer:
    """Another server: `command` has {port}, {page} and {folder} in it; `sessions` have to be opened for some."""

    name: str
    command: Sequence[str]
    path: str = "/mcp"
    sessions: bool = False
    modern: bool = False
    missing: str = field(default="")


INSTALL = "run bench/peers/install.sh"


def peers(nginx: str | None) -> list[Peer]:
    """Return what there is to compare with; what is missing says so."""
    python = INSTALLED / "python" / "bin" / "python"
    here = str(python) if python.exists() else sys.executable

    def lacks(*modules: str) -> str:
        there = python.exists() or all(importlib.util.find_spec(each) for each in modules)
        return "" if there else f"{', '.join(modules)} not installed; {INSTALL}"

    no_node = "" if shutil.which("node") else "no node"
    no_typescript = no_node or ("" if (INSTALLED / "node_modules").exists() else INSTALL)
    found = [
        Peer(
            "nginx, static file", [nginx or "", "-c", "{folder}/nginx.conf"], "/", missing="" if nginx else "no nginx"
        ),
        Peer(
            "Starlette, REST",
            [here, str(PEERS / "starlette_rest.py"), "{port}", "{folder}/page.json"],
            "/api/open/v1/search",
            missing=lacks("starlette", "uvicorn"),
        ),
    ]
    sdk = [here, str(PEERS / "python_sdk.py"), "{port}", "{folder}/tool.json"]
    fast = [here, str(PEERS / "fastmcp_server.py"), "{port}", "{folder}/tool.json"]
    for name, command, missing in (("Python SDK", sdk, lacks("mcp", "uvicorn")), ("FastMCP", fast, lacks("fastmcp"))):
        found += [
            Peer(f"{name}, session, JSON", [*command, "json"], sessions=True, missing=missing),
            Peer(f"{name}, stateless, JSON", [*command, "stateless"], missing=missing),
            Peer(f"{name}, modern", [*command, "json"], modern=True, missing=missing),
            Peer(f"{name}, default", [*command, "default"], sessions=True, missing=missing),
        ]
    first, second = (
        ["node", str(INSTALLED / script), "{port}", "{folder}/tool.json"] for script in ("sdk1.mjs", "sdk2.mjs")
    )
    return [
        *found,
        Peer("TypeScript SDK 1, default", [*first, "default"], sessions=True, missing=no_typescript),
        Peer("TypeScript SDK 1, session, JSON", [*first, "json"], sessions=True, missing=no_typescript),
        Peer("TypeScript SDK 1, stateless, JSON", [*first, "stateless"], missing=no_typescript),
        Peer("TypeScript SDK 2, session, JSON", [*second, "json"], sessions=True, missing=no_typescript),
        Peer("TypeScript SDK 2, stateless, JSON", [*second, "stateless"], missing=no_typescript),
        Peer("TypeScript SDK 2, modern", [*second, "modern"], modern=True, missing=no_typescript),
    ]


@frozen
class Running:
    """A server that answers, in one process or several."""

    port: int
    processes: Sequence[int]

    @property
    def process(self) -> int:
        """The first process."""
        return self.processes[0]


class DidNotStart(Exception):
    """Tell that a server does not run."""


@contextmanager
def serving(peer: Peer, cpu: int | None) -> Iterator[Running]:
    """Run a peer until the end of the block."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        (Path(folder) / "page.json").write_text(compact(_page.rest()))
        (Path(folder) / "tool.json").write_text(compact(_page.tool()))
        (Path(folder) / "nginx.conf").write_text(_NGINX.format(folder=folder, port=port))
        if peer.command[0] == "node":
            # Node.js looks for packages beside the script.
            for script in PEERS.glob("*.mjs"):
                shutil.copy(script, INSTALLED)
        command = [part.format(port=port, folder=folder) for part in peer.command]
        with started(command, port, cpu, dict(os.environ)) as running:
            yield running


@contextmanager
def ours(folder: Path, cpu: int | None, *, stub: bool, processes: int = 1) -> Iterator[Running]:
    """Run our server on a data directory, with its index or with one that finds the same page whatever is asked.

    Several processes share the port, each on whatever core there is.
    """
    port = free_port()
    plugin = [] if stub else ["directory"]
    tac = ["-oy", str(PEERS / "stub.tac")] if stub else []
    environment = os.environ | {
        "PYTHONPATH": str(PROJECT),
        "DIRECTORY_SERVER_DATA_DIR": str(folder),
        "DIRECTORY_SERVER_LISTEN": f"tcp:{port}:interface=127.0.0.1",
        "DIRECTORY_SERVER_REUSE_PORT": str(processes > 1).lower(),
    }
    command = [str(Path(sys.executable).with_name("twistd")), "--nodaemon", "--pidfile=", *tac, *plugin]
    with ExitStack() as stack:
        numbers = []
        for _ in range(processes):
            running = stack.enter_context(started(command, port, None if processes > 1 else cpu, environment))
            numbers.append(running.process)
        end = time.monotonic() + 120
        # Each has ids of its own.
        seen: set[str] = set()
        while len(seen) < processes:
            if time.monotonic() > end:
                raise DidNotStart(f"of {processes} processes {len(seen)} answer")
            seen.add(_request_id(port))
        yield Running(port, numbers)


def _request_id(port: int) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.request("GET", "/healthz")
    answer = str(connection.getresponse().headers["X-Request-Id"])
    connection.close()
    return answer.partition("-")[0]


@contextmanager
def started(command: Sequence[str], port: int, cpu: int | None, environment: dict[str, str]) -> Iterator[Running]:
    """Run `command`, kept to one core, from its first answer to the end of the block. Raises DidNotStart."""
    try:
        process = subprocess.Popen(
            command,
            cwd=tempfile.gettempdir(),
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            preexec_fn=None if cpu is None else lambda: os.sched_setaffinity(0, {cpu}),
        )
    except OSError as error:
        raise DidNotStart(f"{command[0]}: {error.strerror}") from None
    try:
        end = time.monotonic() + 120
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=120).close()
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > end:
                    raise DidNotStart(f"{' '.join(command)} ended with {process.poll()}") from None
                time.sleep(0.05)
        yield Running(port, [process.pid])
    finally:
        process.kill()
        process.wait()


def session(running: Running, path: str) -> str:
    """Open a session as a client does (MCP 2025-06-18, Lifecycle) and return its id."""
    asked = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    opened = _post(running, path, {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": asked}, {})
    named = {"Mcp-Session-Id": opened or "", "MCP-Protocol-Version": "2025-06-18"}
    _post(running, path, {"jsonrpc": "2.0", "method": "notifications/initialized"}, named)
    if not opened:
        raise DidNotStart("it gives no session")
    return opened


def _post(running: Running, path: str, message: object, headers: dict[str, str]) -> str | None:
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=30)
    accepted = "application/json, text/event-stream"
    connection.request(
        "POST", path, compact(message), {"Content-Type": "application/json", "Accept": accepted, **headers}
    )
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.headers["Mcp-Session-Id"]


def compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])

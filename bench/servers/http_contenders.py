"""The servers that `bench.http` compares with the directory server: nginx and the MCP SDK for Python."""

from __future__ import annotations

import http.client
import importlib.util
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from attrs import frozen

from .launch import PROJECT, DidNotStart, Running, free_port, launch
from .stub_page import rest_document, tool_result

PEERS = Path(__file__).parent / "peers"
INSTALLED = PROJECT / ".bench"
INSTALL = "run bench/servers/peers/install.sh"

# Without keepalive_requests, nginx closes a connection after 1,000 requests.
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
class Contender:
    """Another server.

    `command` contains {port} and {folder}. `sessions` is whether a client must open a session, `modern` whether the
    server implements MCP 2026-07-28. `requirement` is what must be installed first; empty if nothing.
    """

    name: str
    command: Sequence[str]
    path: str = "/mcp"
    sessions: bool = False
    modern: bool = False
    requirement: str = ""


def contenders(nginx: str | None) -> list[Contender]:
    """Return all servers to compare with; `nginx` is the path of its program."""
    python = INSTALLED / "python" / "bin" / "python"
    interpreter = str(python) if python.exists() else sys.executable

    no_nginx = "" if nginx else "nginx is not installed"
    is_installed = python.exists() or all(map(importlib.util.find_spec, ("mcp", "uvicorn")))
    sdk = "" if is_installed else f"mcp, uvicorn not installed; {INSTALL}"
    command = [interpreter, str(PEERS / "python_sdk.py"), "{port}", "{folder}/tool.json"]
    return [
        Contender("nginx, static file", [nginx or "", "-c", "{folder}/nginx.conf"], "/", requirement=no_nginx),
        Contender("Python SDK, session, JSON", [*command, "json"], sessions=True, requirement=sdk),
        Contender("Python SDK, stateless, JSON", [*command, "stateless"], requirement=sdk),
        Contender("Python SDK, modern", [*command, "json"], modern=True, requirement=sdk),
        Contender("Python SDK, default", [*command, "default"], sessions=True, requirement=sdk),
    ]


@contextmanager
def running(contender: Contender, core: int | None) -> Iterator[Running]:
    """Run a contender until the end of the block. Raises DidNotStart."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        (Path(folder) / "page.json").write_text(_compact(rest_document()))
        (Path(folder) / "tool.json").write_text(_compact(tool_result()))
        (Path(folder) / "nginx.conf").write_text(_NGINX.format(folder=folder, port=port))
        command = [part.format(port=port, folder=folder) for part in contender.command]
        with launch(command, port, core=core) as server:
            yield server


def open_session(server: Running, path: str) -> str:
    """Open a session as a client does (MCP 2025-06-18, Lifecycle) and return its id. Raises DidNotStart."""
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    session = _post(server, path, {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}, {})
    headers = {"Mcp-Session-Id": session or "", "MCP-Protocol-Version": "2025-06-18"}
    _post(server, path, {"jsonrpc": "2.0", "method": "notifications/initialized"}, headers)
    if not session:
        raise DidNotStart("the response to initialize names no session")
    return session


def _post(server: Running, path: str, message: object, headers: dict[str, str]) -> str | None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    accept = "application/json, text/event-stream"
    headers = {"Content-Type": "application/json", "Accept": accept, **headers}
    connection.request("POST", path, _compact(message), headers)
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.headers["Mcp-Session-Id"]


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

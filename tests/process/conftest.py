"""Server processes on loopback ports, and the command `directory-server` on their data directories."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO

import pytest
from attrs import define, field, frozen
from click.testing import CliRunner

from directory_server.command_line import main

from .. import server_logs
from ..responses import Response as Response
from ..waiting import TIMEOUT as TIMEOUT
from ..waiting import until as until
from .fork_server import Forked, can_fork, fork, set_up_process

SEARCH = "/api/open/v1/search"
MCP = "/api/open/mcp"

TWISTD = Path(sys.executable).with_name("twistd")
COMMAND = Path(sys.executable).with_name("directory-server")
_PORT = re.compile(r"DirectorySite(?: \(TLS\))? starting on (\d+)")
_METRICS = re.compile(r"MetricsSite starting on (\d+)")
_SERVING = re.compile(r"Serving [\d,]+ entr(y|ies)")


Process = Forked | subprocess.Popen[bytes]

_SETTINGS = [name for name in os.environ if name.startswith("DIRECTORY_SERVER_")]


def environment(**variables: str) -> dict[str, str]:
    """Return the environment of this process without DIRECTORY_SERVER_*, plus `variables`."""
    return {name: text for name, text in os.environ.items() if name not in _SETTINGS} | variables


def run_twistd(*arguments: object, cwd: Path, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run twistd until it exits."""
    command = [str(TWISTD), *map(str, arguments)]
    with TemporaryFile() as output:
        process = _start(command, cwd, env or environment(), output)
        try:
            code = process.wait(TIMEOUT)
        finally:
            process.kill()
        output.seek(0)
        return subprocess.CompletedProcess(command, code, output.read().decode())


def run_command(
    *arguments: object, cwd: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `directory-server` in a process of its own until it exits, as commands with a reactor need it."""
    command = [str(COMMAND), *map(str, arguments)]
    with TemporaryFile() as output, TemporaryFile() as errors:
        process = _start(command, cwd, env or environment(), output, errors=errors)
        try:
            code = process.wait(TIMEOUT)
        finally:
            process.kill()
        output.seek(0)
        errors.seek(0)
        return subprocess.CompletedProcess(command, code, output.read().decode(), errors.read().decode())


def _start(
    command: list[str],
    folder: Path,
    env: Mapping[str, str],
    output: BinaryIO,
    max_files: int | None = None,
    errors: BinaryIO | None = None,
) -> Process:
    """Start a program of the package. It writes to `output` and `errors`, by default both to `output`.

    `max_files` is its limit of open files.
    """
    if can_fork(env) and command[0] in (str(TWISTD), str(COMMAND)):
        return fork(command, folder, env, max_files, output, errors or output)
    return subprocess.Popen(
        command,
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=errors or output,
        preexec_fn=partial(set_up_process, max_files),
    )


@frozen
class Client:
    """An HTTP client of the server at `port`."""

    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def open(self, path: str, key: str | None = None, body: Any = None, **headers: str) -> HTTPResponse:
        """Send a request, a POST if it has a `body`; return the response with its body unread."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        if body is not None:
            headers |= {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        connection.request("GET" if body is None else "POST", path, body and json.dumps(body), headers)
        return connection.getresponse()

    def request(self, path: str, key: str | None = None, body: Any = None, **headers: str) -> Response:
        """Send a request, a POST if it has a `body`; return the complete response."""
        with self.open(path, key, body, **headers) as response:
            return Response(response.status, response.headers, response.read())

    def search(self, keywords: str, key: str) -> Response:
        return self.request(f"{SEARCH}?keywords={keywords}", key)

    def search_names(self, keywords: str, key: str) -> list[str]:
        """Return the names of the hits for `keywords`."""
        response = self.search(keywords, key)
        # A test that polls may have spent its quota.
        assert response.status == 200, response.body.decode()
        return [hit["name"] for hit in response.json["data"]]

    def call_tool(self, tool: str, arguments: Any, key: str) -> Any:
        """Call `tool` over MCP; return its result."""
        params = {"name": tool, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return self.request(MCP, key, message).json["result"]

    def open_stream(self, key: str) -> HTTPResponse:
        """Open an event stream over MCP; return it after its first comment."""
        response = self.open(MCP, key, Accept="text/event-stream")
        assert (response.status, response.readline(), response.readline()) == (200, b": \n", b"\n")
        return response

    def entry_count(self) -> int:
        """Return the number of entries in the index."""
        return int(self.request("/healthz").json["entries"])


@define
class Server(Client):
    """A server process, and a client of it."""

    process: Process = field(kw_only=True)
    log: Path = field(kw_only=True)

    def metrics(self) -> Client:
        """Return a client of the port that serves the metrics."""
        found = _METRICS.search(self.log.read_text())
        assert found
        return Client(int(found[1]))

    def metrics_text(self) -> str:
        """Return the metrics in the text format of Prometheus."""
        return self.metrics().request("/metrics").body.decode()

    def stop(self, signal_number: int = signal.SIGTERM, *, has_traceback: bool = False) -> str:
        """Send a signal, wait until the process has exited, check its log for tracebacks and return it."""
        self.process.send_signal(signal_number)
        self.process.wait(TIMEOUT)
        log = self.log.read_text()
        assert (server_logs.tracebacks(log) > 0) == has_traceback, log
        return log


def wait_for_port(log: Path, process: Process | None = None) -> int:
    """Wait until the server that logs to `log` serves requests; return its port."""

    def serving() -> bool:
        text = log.read_text() if log.exists() else ""
        assert process is None or process.poll() is None, text
        # Shared ports are bound last.
        return _SERVING.search(text) is not None and _PORT.search(text) is not None

    until(serving, "the server has started")
    found = _PORT.search(log.read_text())
    assert found
    return int(found[1])


@contextmanager
def run_server(
    arguments: list[object],
    folder: Path,
    env: Mapping[str, str] | None = None,
    *,
    max_files: int | None = None,
    within: Sequence[str] = (),
) -> Iterator[Server]:
    """Run `twistd` with `arguments` in `folder`; yield the server once it serves requests, and kill it at the end.

    `max_files` is its limit of open files; None keeps the limit of this process. `within` is a command that runs it.
    """
    log = folder / f"server-{len([*folder.glob('server-*.log')])}.log"
    command = [*within, str(TWISTD), *map(str, arguments)]
    with log.open("xb") as output:
        process = _start(command, folder, env or environment(), output, max_files)
    server_logs.running.add(log)
    try:
        yield Server(wait_for_port(log, process), process=process, log=log)
    finally:
        server_logs.running.discard(log)
        if process.poll() is None:
            process.kill()
        process.wait(TIMEOUT)


FOREGROUND: list[object] = ["--nodaemon", "--pidfile="]
LISTEN = "tcp:0:interface=127.0.0.1"


@frozen
class Installation:
    """A data directory, and the commands and servers that use it."""

    folder: Path

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def command(self, *arguments: object, stdin: str | None = None) -> str:
        """Run `directory-server`, which must succeed, and return its standard output.

        It runs in the process of the test, because starting a process takes a second.
        """
        result = CliRunner(env=dict.fromkeys(_SETTINGS)).invoke(
            main, ["--data-dir", str(self.data), *map(str, arguments)], input=stdin
        )
        assert result.exit_code == 0, result.output
        return result.stdout

    def start_import(self) -> subprocess.Popen[bytes]:
        """Start a process that imports entries from its standard input."""
        return subprocess.Popen(
            [COMMAND, "--data-dir", self.data, "import", "-"],
            cwd=self.folder,
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def new_key(self, *options: object) -> str:
        """Create a key with the `options` of `key create`; return its secret."""
        return self.command("key", "create", "--label", "test", *options).strip()

    def key_ids(self) -> list[str]:
        """Return the ids of all keys, oldest first."""
        return [line.split()[0] for line in self.command("key", "list").splitlines()[1:]]

    @contextmanager
    def serve(self, *options: object, listen: str = LISTEN) -> Iterator[Server]:
        """Run a server on the data directory."""
        with run_server([*FOREGROUND, "directory", "-d", self.data, "-l", listen, *options], self.folder) as server:
            yield server


def entry_line(name: str, description: str = "A server.") -> str:
    """Return an entry as a line of JSON Lines."""
    return json.dumps({"name": name, "description": description, "version": "1.0.0"}) + "\n"


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    """Return an empty data directory."""
    return Installation(tmp_path)


@pytest.fixture(scope="module")
def sample_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Installation, Server]]:
    """Return a data directory with the sample catalogue, and a server on it that all tests of the module share."""
    installation = Installation(tmp_path_factory.mktemp("sample"))
    installation.command("quickstart")
    # No heartbeat while a test waits for an event of a stream.
    with installation.serve("--set", f"streams.heartbeat={10 * TIMEOUT}") as server:
        yield installation, server
        server.stop()

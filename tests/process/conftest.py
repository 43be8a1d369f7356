"""Real servers on loopback ports, and the operator's command beside them. Every wait has an end."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.client import HTTPConnection, HTTPMessage, HTTPResponse
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field, frozen
from click.testing import CliRunner

from directory_server.cli.main import main

PATIENCE = 15.0
"""Seconds after which whatever a test waits for is taken to have failed."""

SEARCH = "/api/open/v1/search"
MCP = "/api/open/mcp"

_TWISTD = Path(sys.executable).with_name("twistd")
_COMMAND = Path(sys.executable).with_name("directory-server")
_PORT = re.compile(r"DirectorySite(?: \(TLS\))? starting on (\d+)")
_METRICS = re.compile(r"MetricsSite starting on (\d+)")
_SERVING = re.compile(r"Serving [\d,]+ entries")


def until(true: Callable[[], Any], what: str, within: float = PATIENCE) -> Any:
    """Return what `true` returns once that is true; fail after `within` seconds."""
    end = time.monotonic() + within
    while not (found := true()):
        assert time.monotonic() < end, f"{what}: not within {within} seconds"
        time.sleep(0.02)
    return found


_SETTINGS = [name for name in os.environ if name.startswith("DIRECTORY_SERVER_")]


def environment(**more: str) -> dict[str, str]:
    """Return this process's environment without settings of the directory, and `more`."""
    return {name: text for name, text in os.environ.items() if name not in _SETTINGS} | more


def twistd(*arguments: object, cwd: Path, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run twistd to its end, which is to be near."""
    return subprocess.run(
        [_TWISTD, *map(str, arguments)],
        cwd=cwd,
        env=env or environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE,
    )


@frozen
class Answer:
    """A response, read to its end."""

    status: int
    headers: HTTPMessage
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@frozen
class Client:
    """Talks to the server at a port."""

    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def open(self, path: str, key: str | None = None, body: Any = None, **headers: str) -> HTTPResponse:
        """Send a request, a POST if it has a body, and return the response, of which only the head is read."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        if body is not None:
            headers |= {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        connection.request("GET" if body is None else "POST", path, body and json.dumps(body), headers)
        return connection.getresponse()

    def ask(self, path: str, key: str | None = None, body: Any = None, **headers: str) -> Answer:
        with self.open(path, key, body, **headers) as response:
            return Answer(response.status, response.headers, response.read())

    def search(self, keywords: str, key: str) -> Answer:
        return self.ask(f"{SEARCH}?keywords={keywords}", key)

    def names(self, keywords: str, key: str) -> list[str]:
        """Return the names of the hits for `keywords`."""
        return [hit["name"] for hit in self.search(keywords, key).json["data"]]

    def call(self, tool: str, arguments: Any, key: str) -> Any:
        """Call a tool over MCP; return the result."""
        params = {"name": tool, "arguments": arguments}
        return self.ask(MCP, key, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).json["result"]

    def stream(self, key: str) -> HTTPResponse:
        """Open a stream of events and return it behind its first line, which says when to come back."""
        response = self.open(MCP, key, Accept="text/event-stream")
        assert (response.status, response.readline(), response.readline()) == (200, b"retry: 3000\n", b"\n")
        return response

    def entries(self) -> int:
        """Return the number of entries that can be found."""
        return int(self.ask("/healthz").json["entries"])


@define
class Server(Client):
    """A server in a process of its own."""

    process: subprocess.Popen[bytes] = field(kw_only=True)
    log: Path = field(kw_only=True)

    def metrics(self) -> Client:
        """Return a client of the listener of its metrics."""
        found = _METRICS.search(self.log.read_text())
        assert found
        return Client(int(found[1]))

    def stop(self, number: int = signal.SIGTERM) -> str:
        """Send a signal, wait for the end and return all that was logged."""
        self.process.send_signal(number)
        self.process.wait(PATIENCE)
        return self.log.read_text()


def port_of(log: Path, process: subprocess.Popen[bytes] | None = None) -> int:
    """Return the port that a server, which logs to `log`, listens on, once it does."""

    def serving() -> bool:
        text = log.read_text() if log.exists() else ""
        assert process is None or process.poll() is None, text
        # Shared ports are bound last.
        return _SERVING.search(text) is not None and _PORT.search(text) is not None

    until(serving, "the start")
    found = _PORT.search(log.read_text())
    assert found
    return int(found[1])


@contextmanager
def running(
    arguments: list[object], folder: Path, env: Mapping[str, str] | None = None, *, files: int | None = None
) -> Iterator[Server]:
    """Run `twistd` with `arguments` in `folder`, from its first answer on; end it if the test has not.

    It may have so many `files` open; None for as many as this process.
    """
    log = folder / f"server-{len([*folder.glob('server-*.log')])}.log"
    with log.open("xb") as output:
        process = subprocess.Popen(
            [_TWISTD, *map(str, arguments)],
            cwd=folder,
            env=env or environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            preexec_fn=partial(_prepare, files),
        )
    try:
        yield Server(port_of(log, process), process=process, log=log)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(PATIENCE)


def _prepare(files: int | None) -> None:
    # What a shell starts in the background inherits that SIGINT is ignored.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if files is not None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))


FOREGROUND: list[object] = ["--nodaemon", "--pidfile="]
LISTEN = "tcp:0:interface=127.0.0.1"


@frozen
class Installation:
    """A data directory, and what an operator does with it."""

    folder: Path

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def command(self, *arguments: object, stdin: str | None = None) -> str:
        """Run `directory-server`, which must succeed, and return its standard output.

        It runs in this process, which is another one than the server's, for a start takes a second.
        """
        done = CliRunner(env=dict.fromkeys(_SETTINGS)).invoke(
            main, ["--data-dir", str(self.data), *map(str, arguments)], input=stdin
        )
        assert done.exit_code == 0, done.output
        return done.stdout

    def importing(self) -> subprocess.Popen[bytes]:
        """Start an import of what is to be written to its standard input."""
        return subprocess.Popen(
            [_COMMAND, "--data-dir", self.data, "import", "-"],
            cwd=self.folder,
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def new_key(self, *options: object) -> str:
        return self.command("key", "create", "--label", "test", *options).strip()

    def key_ids(self) -> list[str]:
        """Return the ids of all keys, oldest first."""
        return [line.split()[0] for line in self.command("key", "list").splitlines()[1:]]

    @contextmanager
    def serve(self, *options: object, listen: str = LISTEN) -> Iterator[Server]:
        """Run a server on the data directory."""
        with running([*FOREGROUND, "directory", "-d", self.data, "-l", listen, *options], self.folder) as server:
            yield server


def document(name: str, description: str = "A server.") -> str:
    """Return an entry as a line of a file."""
    return json.dumps({"name": name, "description": description, "version": "1.0.0"}) + "\n"


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    """Return an empty data directory."""
    return Installation(tmp_path)


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Installation, Server]]:
    """Return a data directory with the sample catalogue, and the server that runs on it for a whole module."""
    installation = Installation(tmp_path_factory.mktemp("busy"))
    installation.command("quickstart")
    with installation.serve() as server:
        yield installation, server
        assert "Traceback" not in server.stop()

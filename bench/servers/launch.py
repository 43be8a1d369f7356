"""Start server processes on free loopback ports and stop them: any command, and the directory server."""

from __future__ import annotations

import http.client
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from attrs import frozen

PROJECT = Path(__file__).parents[2]
SCRIPTS = Path(sys.executable).parent
STUB = Path(__file__).parent / "peers" / "stub.tac"

START = 1_800.0
"""Seconds within which a server must listen and respond. A million entries load for minutes."""

STOP = 20.0
"""Seconds for which a server may run after its signal to stop."""


class DidNotStart(Exception):
    """A server did not start."""


@frozen
class Running:
    """A running server, of one process or several."""

    port: int
    processes: Sequence[int]

    @property
    def process(self) -> int:
        """The first process."""
        return self.processes[0]


def free_port() -> int:
    """Return a port that no process listens on."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@contextmanager
def launch(
    command: Sequence[str | Path],
    port: int,
    *,
    core: int | None = None,
    environ: Mapping[str, str] | None = None,
    stop: signal.Signals = signal.SIGTERM,
) -> Iterator[Running]:
    """Run `command` until the end of the block, from when it listens on `port`. Raises DidNotStart.

    The process runs on the core `core`, or on any if it is None, and may open as many files as its hard limit allows.
    It is stopped by the signal `stop`, and killed if it runs longer than STOP.
    """

    def prepare() -> None:
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        if core is not None:
            os.sched_setaffinity(0, {core})

    with tempfile.TemporaryDirectory() as folder:
        try:
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=dict(environ if environ is not None else os.environ) | {"PYTHONPATH": str(PROJECT)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                preexec_fn=prepare,
            )
        except OSError as error:
            raise DidNotStart(f"{command[0]}: {error.strerror}") from None
        try:
            _wait_until_listening(process, port)
            yield Running(port, [process.pid])
        finally:
            process.send_signal(stop)
            try:
                process.wait(STOP)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_until_listening(process: subprocess.Popen[bytes], port: int) -> None:
    end = time.monotonic() + START
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=START).close()
            return
        except OSError:
            if process.poll() is not None or time.monotonic() > end:
                raise DidNotStart(f"{process.args!r} ended with {process.poll()}") from None
            time.sleep(0.02)


@contextmanager
def directory_server(
    *folders: Path,
    core: int | None = None,
    stub: bool = False,
    processes: int = 1,
    settings: Mapping[str, str] | None = None,
) -> Iterator[Running]:
    """Run the directory server on a data directory from when it responds. Raises DidNotStart.

    A process is started for each of `folders`, which may be the same, or `processes` on the only one. Several processes
    share the port and run on any core. If `stub` is true, all searches return the same page (`stub_page`). `settings`
    are environment variables without their prefix, such as {"WEB__SEARCH": "public"}.
    """
    port = free_port()
    data = folders * processes
    environ = {name: value for name, value in os.environ.items() if not name.startswith("DIRECTORY_SERVER_")} | {
        "DIRECTORY_SERVER_DATA_DIR": str(folders[0]),
        "DIRECTORY_SERVER_LISTEN": f"tcp:{port}:interface=127.0.0.1",
        "DIRECTORY_SERVER_REUSE_PORT": str(len(data) > 1).lower(),
        **{f"DIRECTORY_SERVER_{name}": value for name, value in (settings or {}).items()},
    }
    plugin = ["-oy", STUB] if stub else ["directory"]
    command: list[str | Path] = [SCRIPTS / "twistd", "--nodaemon", "--pidfile=", *plugin]
    with ExitStack() as stack:
        if len(data) == 1:
            running = stack.enter_context(launch(command, port, core=core, environ=environ, stop=signal.SIGKILL))
        else:
            environs = [environ | {"DIRECTORY_SERVER_DATA_DIR": str(folder)} for folder in data]
            # The first one builds the index if there is no file of it.
            started = [stack.enter_context(launch(command, port, environ=environ)).process for environ in environs]
            running = Running(port, started)
        _wait_for_processes(port, len(data))
        yield running


def _wait_for_processes(port: int, count: int) -> None:
    """Wait until `count` processes respond. Raises DidNotStart."""
    end = time.monotonic() + START
    seen: set[str] = set()
    while len(seen) < count:
        if time.monotonic() > end:
            raise DidNotStart(f"{len(seen)} of {count} processes respond")
        seen.add(_process_of_a_response(port))


def _process_of_a_response(port: int) -> str:
    """Return the part of a request id that is different in each process."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=START)
    connection.request("GET", "/healthz")
    request_id = str(connection.getresponse().headers["X-Request-Id"])
    connection.close()
    return request_id.partition("-")[0]


def health(port: int) -> dict[str, int]:
    """Return the response of /healthz."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=START)
    connection.request("GET", "/healthz")
    response: dict[str, int] = json.load(connection.getresponse())
    connection.close()
    return response


def run_command(folder: Path, *words: str) -> tuple[float, str]:
    """Run `directory-server` on a data directory; return the seconds that it took and its output."""
    began = time.monotonic()
    command: list[str | Path] = [SCRIPTS / "directory-server", "--data-dir", folder, *words]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return time.monotonic() - began, done.stdout

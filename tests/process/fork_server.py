"""Start servers and commands by forking a process that has imported them and has built a server.

That takes more than three seconds of processor time: modules, tables of searches, compiled routes, texts of pages.

Run as a program, this file is that process. Its arguments are a socket on which it accepts connections, and a
connection to the process that has started it. A request is `start`, which forks a process that continues as `twistd` or
`directory-server`, or `wait`, which returns the status of one that has exited.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any, BinaryIO, NoReturn

MODULES = (
    "directory_server.tap._service",
    "directory_server.command_line",
    "directory_server.composition",
    "directory_server.tap",
    "twisted.scripts.twistd",
    "twisted.plugins.cred_unix",
    "twisted.trial.itrial",
    "directory_server.features.publishing.service",
    "directory_server.features.statistics.recorder",
    "directory_server.features.verification.service",
)
"""Imported before forks."""

REACTOR = "twisted.internet.reactor"
"""Not imported before forks: it opens descriptors that processes must not share."""

_RUN = os.getpid()
"""Workers of pytest are forked after this is set."""

_PRELOAD = "LD_PRELOAD"
_REQUEST = 65_536

_started: list[tuple[subprocess.Popen[bytes], socket.socket]] = []
"""The fork servers that this process has started, each with the connection whose end it notices."""


class Forked:
    """A forked process, with the methods of `subprocess.Popen` that tests use."""

    def __init__(self, pid: int, connection: socket.socket) -> None:
        self.pid = pid
        self._connection = connection
        self.returncode: int | None = None
        self._exit = select.poll()
        self._descriptor = os.pidfd_open(pid)
        self._exit.register(self._descriptor, select.POLLIN)

    def poll(self) -> int | None:
        """Return the exit status, negative for a signal; None while the process runs."""
        return self._status(0)

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit status once the process has exited. Raises subprocess.TimeoutExpired after `timeout` s."""
        status = self._status(None if timeout is None else timeout * 1_000)
        if status is None:
            raise subprocess.TimeoutExpired("twistd", timeout or 0)
        return status

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the process has exited."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _status(self, milliseconds: float | None) -> int | None:
        if self.returncode is None and self._exit.poll(milliseconds):
            self.returncode = _ask(self._connection, {"do": "wait", "pid": self.pid})
            os.close(self._descriptor)
        return self.returncode


def can_fork(env: Mapping[str, str]) -> bool:
    """Return whether a forked process is the same as an executed one; FAULTS=all executes all."""
    is_same = env.get("PYTHONPATH") == os.environ.get("PYTHONPATH")
    return is_same and hasattr(os, "pidfd_open") and os.environ.get("FAULTS") != "all"


def fork(
    arguments: Sequence[str],
    folder: Path,
    env: Mapping[str, str],
    max_files: int | None,
    output: BinaryIO,
    errors: BinaryIO,
) -> Forked:
    """Start `twistd` or `directory-server` in `folder`, writing to `output` and `errors`.

    `arguments` begin with the path of the program; `max_files` is its limit of open files.
    """
    request = {"do": "start", "arguments": arguments, "folder": str(folder), "env": dict(env), "max_files": max_files}
    connection = _connection(env.get(_PRELOAD, ""))
    return Forked(_ask(connection, request, output, errors), connection)


def _ask(connection: socket.socket, request: Mapping[str, Any], *files: BinaryIO) -> int:
    """Return the answer of a fork server to a request."""
    socket.send_fds(connection, [json.dumps(request).encode()], [file.fileno() for file in files])
    return int(connection.recv(_REQUEST))


@cache
def _connection(preload: str) -> socket.socket:
    """Return a connection to the fork server with the library `preload`, which it starts if there is none."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.connect(start(preload))
    return connection


def start(preload: str = "") -> str:
    """Start a fork server, unless this process or one of its workers has done so, and return its address.

    It ends after this process, when nobody is connected to it.
    """
    content = Path(preload).read_bytes() if preload else b""
    address = f"\0fork-server-{_RUN}-{sha256(content).hexdigest()}"
    ours, theirs = socket.socketpair()
    with theirs, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        try:
            listening.bind(address)
        except OSError:
            return address
        listening.listen()
        descriptors = [listening.fileno(), theirs.fileno()]
        # With -P the folder of this file is no source of modules.
        command = [sys.executable, "-P", __file__, *map(str, descriptors)]
        env = {**os.environ, **({_PRELOAD: preload} if preload else {})}
        process = subprocess.Popen(command, env=env, pass_fds=descriptors, stdin=subprocess.DEVNULL)
    _started.append((process, ours))
    return address


def _serve(listening: socket.socket, starter: socket.socket) -> None:
    """Answer requests until `starter` and all connections are closed; in a forked process, return after the fork."""
    connections = {connection.fileno(): connection for connection in (listening, starter)}
    while connections:
        for ready in select.select(connections, [], [])[0]:
            connection = connections[ready]
            if connection is listening:
                accepted, _ = listening.accept()
                connections[accepted.fileno()] = accepted
                continue
            message, files, _, _ = socket.recv_fds(connection, _REQUEST, 2)
            if not message:
                del connections[ready]
                connection.close()
                if connection is starter:
                    del connections[listening.fileno()]
                    listening.close()
                    break
                continue
            request = json.loads(message)
            if request["do"] == "wait":
                answer = os.waitstatus_to_exitcode(os.waitpid(request["pid"], 0)[1])
            else:
                answer = os.fork()
                if answer == 0:
                    for other in connections.values():
                        other.close()
                    _become(request, *files)
                    return
                for file in files:
                    os.close(file)
            connection.send(str(answer).encode())
    sys.exit()


def _become(request: Mapping[str, Any], output: int, errors: int) -> None:
    """Set up this process as an executed one: outputs, folder, environment, limits, arguments."""
    os.dup2(output, 1)
    os.dup2(errors, 2)
    os.close(output)
    os.close(errors)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["env"])
    set_up_process(request["max_files"])
    sys.argv = request["arguments"]


def set_up_process(max_files: int | None) -> None:
    """Set the limit of open files, and the default action of SIGINT."""
    # A shell starts background processes with SIGINT ignored, and their children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if max_files is not None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max_files, max_files))


def _build_a_server() -> None:
    """Build and close a server with the sample catalogue, without a reactor.

    What it imports and caches is then in each fork. Its databases are closed: SQLite must not be open in a fork.
    """
    from attrs import evolve
    from twisted.internet.task import Clock

    from directory_server import composition, sample
    from directory_server.composition._core import machine_runtime
    from directory_server.config import load
    from directory_server.domain.entries import Entry
    from directory_server.features import sections
    from directory_server.runtime.run_sync import inline, run_sync
    from directory_server.runtime.turn import ImmediateTurn

    clock = Clock()
    entries = [Entry(each["server"]) for each in json.loads(sample.path().read_bytes())["servers"]]
    with TemporaryDirectory() as folder:
        config = evolve(load(file=None, environ={}, settings=[], sections=sections()), data_dir=Path(folder))
        runtime = evolve(machine_runtime(clock), offload=inline, account_writes=inline, turn=ImmediateTurn())
        server = composition.build(config, clock, sockets=1, lost=lambda reason: None, runtime=runtime)
        run_sync(server.load())
        run_sync(server.search.directory.publish("local", entries))
        server.close()
        for mode in ("off", "accounts", "public"):
            composition.preload(evolve(config, web=evolve(config.web, search=mode)))


def _main() -> None:
    # Klein imports the reactor for a function that the server does not call.
    sys.modules[REACTOR] = ModuleType(REACTOR)
    for module in MODULES:
        import_module(module)
    import_module("directory_server.search").load_tables()
    _build_a_server()
    del sys.modules[REACTOR]
    # Memory that no collection touches stays shared.
    gc.freeze()
    _serve(*(socket.socket(fileno=int(argument)) for argument in sys.argv[1:]))
    try:
        if Path(sys.argv[0]).name == "twistd":
            sys.exit(import_module("twisted.scripts.twistd").run())
        import_module("directory_server.command_line").main()
    except SystemExit as ended:
        _exit(ended)


def _exit(ended: SystemExit) -> NoReturn:
    """End this process, without freeing the objects of the process that was forked: that takes half a second."""
    if isinstance(ended.code, str):
        print(ended.code, file=sys.stderr)
    vars(threading)["_shutdown"]()
    vars(atexit)["_run_exitfuncs"]()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(ended.code if isinstance(ended.code, int) else int(ended.code is not None))


if __name__ == "__main__":
    _main()

"""Server processes that share memory: one imports the server and forks the others, before it has a reactor.

The imported modules and the tables of words are then the same pages of memory in all processes, until one of them
writes to a page. `supervisor.py` is the parent of all.
"""

from __future__ import annotations

import ctypes
import gc
import linecache
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from threading import Event, Thread
from types import ModuleType
from typing import NoReturn

from attrs import define, evolve, field

from . import supervisor
from .config import Config, ConfigError

PLACEHOLDER = "{process}"
"""Stands for the number of the process in settings that must differ between processes."""

REACTOR = "twisted.internet.reactor"

_IMPORTED = (
    "directory_server.composition",
    "directory_server.app",
    "twisted.internet.default",
    "twisted.internet.epollreactor",
    "encodings.unicode_escape",
)

_PDEATHSIG = 1
"""PR_SET_PDEATHSIG of prctl(2): the signal that a process gets when its parent ends."""


@define(eq=False)
class Worker:
    """A server process: its number, from 1 on, and the descriptor of its reports."""

    number: int
    _reports: int
    _waiting: int | None = None
    """Where the processes that were forked from this one wait, each for a byte."""
    _forked: int = 0
    _serves: Event = field(factory=Event, init=False)

    def start(self) -> None:
        """Report each second that this process starts, until it serves: its reactor does not run yet."""
        Thread(target=self._report_start, daemon=True).start()

    def ready(self) -> None:
        """Report that this process serves; to be called each second. The processes that were forked from it go on."""
        self._serves.set()
        self.report(supervisor.READY)
        if self._waiting is not None:
            os.write(self._waiting, bytes(self._forked))
            os.close(self._waiting)
            self._waiting = None

    def report(self, what: str) -> None:
        """Send a report to the supervisor. It is lost if the supervisor does not read, or has ended."""
        with suppress(OSError):
            os.write(self._reports, f"{what} {self.number} {os.getpid()}\n".encode())

    def _report_start(self) -> None:
        while not self._serves.wait(supervisor.INTERVAL):
            self.report(supervisor.STARTING)


def configured(config: Config, number: int) -> Config:
    """Return the configuration of the process `number`."""

    def own(text: str) -> str:
        return text.replace(PLACEHOLDER, str(number))

    return evolve(
        config,
        reuse_port=True,
        metrics=evolve(config.metrics, listen=own(config.metrics.listen)),
        log=evolve(config.log, access_file=own(config.log.access_file)),
    )


def check(config: Config) -> None:
    """Check that no setting makes processes use the same endpoint or file. Raises ConfigError."""
    if sys.platform != "linux":
        raise ConfigError("processes: must be 1, other numbers are for Linux only")
    own = {"metrics.listen": config.metrics.listen, "log.access_file": config.log.access_file.removeprefix("-")}
    for name, text in own.items():
        if text and PLACEHOLDER not in text:
            raise ConfigError(
                f"{name}: must contain {PLACEHOLDER}, which becomes the number of the process, because "
                f"processes is {config.processes}; not {text!r}"
            )


def supervise(count: int, command: Sequence[str]) -> NoReturn:
    """Replace this process by a supervisor that runs `command`, a program of Python, as `count` processes."""
    program = [sys.executable, "-I", "-S", str(Path(supervisor.__file__))]
    sys.stdout.flush()
    os.execv(sys.executable, [*program, str(count), sys.executable, *command])


def join(config: Config, environ: Mapping[str, str]) -> Worker | None:
    """Return this server process, None if no supervisor has started it.

    If the supervisor wants several processes, this one imports the server and forks the others. This function returns
    in each of them. In the others it does so when the first one serves, and ends the process if that does not happen.
    """
    if supervisor.VARIABLE not in environ:
        return None
    reports, parent, listed = environ[supervisor.VARIABLE].split()
    first, *others = map(int, listed.split(","))
    os.set_inheritable(int(reports), False)
    _end_with(int(parent))
    if not others:
        worker = Worker(first, int(reports))
        worker.start()
        return worker
    _load(config)
    waiting, started = os.pipe()
    for number in others:
        if _fork():
            os.close(started)
            worker = Worker(number, int(reports))
            worker.report(supervisor.FORKED)
            worker.start()
            _end_with(int(parent))
            if not os.read(waiting, 1):
                os._exit(1)
            os.close(waiting)
            return worker
    os.close(waiting)
    worker = Worker(first, int(reports), started, len(others))
    worker.start()
    return worker


def _load(config: Config) -> None:
    """Import the server and load what all processes need.

    No reactor is installed: processes must not share its descriptors.
    """
    # Memory that is freed before a fork is written to after it.
    gc.disable()
    # Klein imports the reactor for a function that the server does not call.
    sys.modules[REACTOR] = ModuleType(REACTOR)
    for module in _IMPORTED:
        import_module(module)
    del sys.modules[REACTOR]
    import_module("directory_server.composition").preload(config)
    linecache.clearcache()
    gc.collect()
    # A collection writes to the objects that it looks at.
    gc.freeze()
    gc.enable()


def _fork() -> bool:
    """Fork a process whose parent is the supervisor; return whether this is the new process."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return False
    between = os.getpid()
    if os.fork():
        os._exit(0)
    while os.getppid() == between:
        time.sleep(0.001)
    return True


def _end_with(parent: int) -> None:
    """Make this process stop when its supervisor `parent` ends."""
    ctypes.CDLL(None).prctl(_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)

"""Process control: limits, the interpreter's settings, signals, the exit code."""

from __future__ import annotations

import atexit
import ctypes
import gc
import linecache
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any

SWITCH = 0.0001
"""The thread switch interval of the interpreter, in seconds.

The reactor releases the interpreter lock whenever it calls the kernel, SQLite or numpy, a hundred times per search, and
then waits this long for each thread that reads, writes or indexes entries.
"""

COLLECT = (5_000, 40, 50)
"""Thresholds of the garbage collector (gc.set_threshold).

A full collection takes 10 ms beside searches, 50 ms with a new index, and blocks all threads, so it should be rare. A
collection of the youngest objects takes 3 to 6 ms; with a higher threshold it takes longer and runs less often.
"""

MALLOC = {-8: 2, -3: 1_048_576, -1: 8_388_608}
"""Parameters of glibc's allocator (mallopt(3)): M_ARENA_MAX, M_MMAP_THRESHOLD and M_TRIM_THRESHOLD, in bytes.

By default each thread has its own arena for blocks of up to 32 MiB, and memory that twenty threads needed for large
entries stays with the process. With these values free blocks of a megabyte return to the kernel at once.
"""


_STOPPING = (signal.SIGINT, signal.SIGTERM)

RESERVE = 256
"""Open files reserved for databases, logs and upstreams, at most half of those allowed."""


class StartFailed(SystemExit, Exception):
    """Ends a process that cannot start, with exit code 1.

    As an Exception, it makes twistd remove its PID file and notify the process that waits for the daemon. As a
    SystemExit, it prints no traceback.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.code = 1


class Terminal:
    """The standard error of the process that started the server, until start-up has finished.

    A daemon has no standard error, and twistd prints only the first 100 bytes of the reason for a failed start.
    """

    def __init__(self) -> None:
        try:
            self._descriptor: int | None = os.dup(2)
        except OSError:  # Already closed.
            self._descriptor = None

    def write_line(self, line: str) -> bool:
        """Write `line` if this process is a daemon by now; return whether it was written."""
        if self._descriptor is None or os.path.sameopenfile(self._descriptor, 2):
            return False
        try:
            os.write(self._descriptor, f"{line}\n".encode(errors="replace"))
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Close the descriptor, so that no reader waits for the end of the output."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


@contextmanager
def without_collections() -> Iterator[None]:
    """Do not collect garbage in the block, nor ever what it created.

    Imports create hundreds of thousands of objects and nearly no garbage. Collections of them take 0.15 seconds.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def yield_early() -> None:
    """Make threads yield the interpreter lock early to those that wait for it."""
    sys.setswitchinterval(SWITCH)


def keep_objects() -> None:
    """Exclude all present objects from collections: those that were loaded are permanent.

    Objects of requests that are in progress are freed all the same, except for cycles of them.
    """
    gc.freeze()


def tune() -> None:
    """Configure the garbage collector, after the index is loaded."""
    # The sources of generated methods of attrs take 1.4 MB.
    linecache.clearcache()
    gc.collect()
    keep_objects()
    gc.set_threshold(*COLLECT)


def tune_allocator(environ: Mapping[str, str]) -> bool:
    """Make glibc return free memory, unless `environ` has allocator settings; return whether it succeeded."""
    if any(name.startswith("MALLOC_") or name == "GLIBC_TUNABLES" for name in environ):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # Not glibc.
        return False
    return all(mallopt(parameter, value) for parameter, value in MALLOC.items())


def raise_file_limit() -> int:
    """Raise the soft limit of open files to the hard limit; return the limit (getrlimit(2), RLIMIT_NOFILE)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError):  # macOS reports no limit, and then enforces one.
        return soft
    return hard


def client_sockets(files: int) -> int:
    """Return how many of `files` open files may be client sockets."""
    return files - min(RESERVE, files // 2)


def handle_signals(reactor: Any, reopen: Callable[[], None]) -> None:
    """Make SIGHUP call `reopen` on `reactor`, and ignore SIGUSR1 and SIGUSR2.

    Without a handler all three end the process (signal(7)). twistd's handler for SIGUSR1, if installed, stays. After
    the first SIGINT or SIGTERM, and once the reactor stops, further ones are ignored: Twisted logs a traceback when a
    second one arrives.
    """
    reactor.addSystemEventTrigger("before", "shutdown", _ignore_stop_signals)
    for number in _STOPPING:
        handler = signal.getsignal(number)
        # twistd --debug has other handlers.
        if callable(handler) and getattr(handler, "__self__", None) is reactor:
            signal.signal(number, partial(_stop_once, handler))
    signal.signal(signal.SIGHUP, lambda *_: reactor.callFromThread(reopen))
    for number in (signal.SIGUSR1, signal.SIGUSR2):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.SIG_IGN)


def _stop_once(handler: Callable[[int, FrameType | None], Any], number: int, frame: FrameType | None) -> None:
    # The reactor stops in its next turn: until then, another signal would stop it a second time.
    _ignore_stop_signals()
    handler(number, frame)


def _ignore_stop_signals() -> None:
    # With SIG_IGN, Python prints an error for a signal that has arrived and is not handled yet.
    for number in _STOPPING:
        signal.signal(number, lambda *_: None)


def notify_systemd(environ: Mapping[str, str], state: str) -> None:
    """Send `state` to systemd, such as READY=1, if `environ` has NOTIFY_SOCKET (sd_notify(3))."""
    address = environ.get("NOTIFY_SOCKET")
    if address:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notifying:
            notifying.setblocking(False)
            # A leading @ means the abstract namespace of Linux.
            notifying.sendto(state.encode(), address.replace("@", "\0", 1) if address[0] == "@" else address)


def watchdog_interval(environ: Mapping[str, str]) -> float | None:
    """Return the seconds between two signs of life that systemd expects, None if none (sd_watchdog_enabled(3))."""
    if environ.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return None
    microseconds = environ.get("WATCHDOG_USEC", "")
    return int(microseconds) / 2e6 if microseconds.isdecimal() and int(microseconds) else None


def fail_at_exit() -> None:
    """Make the process exit with code 1 after twistd has shut down.

    twistd exits with 0 whenever the reactor was stopped, which systemd treats as success.
    """
    atexit.register(_fail)


def _fail() -> None:
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(1)

"""Process control: limits, the interpreter's settings, signals, the exit code."""

from __future__ import annotations

import atexit
import ctypes
import gc
import os
import resource
import signal
import sys
from collections.abc import Callable, Mapping
from typing import Any

SWITCH = 0.0001
"""Seconds after which a thread that works has to let another one work, if one wants to.

The reactor lets others work whenever it calls the kernel, SQLite or numpy, a hundred times for a search, and then waits
that long for each thread that reads, writes or indexes entries.
"""

COLLECT = (10_000, 20, 50)
"""How many new objects, and collections of younger ones, bring a collection of garbage (gc.set_threshold).

One of everything takes 50 ms when the index is new, and all threads wait for it: it shall be rare.
"""

MALLOC = {-8: 2, -3: 1_048_576, -1: 8_388_608}
"""Parameters of glibc's allocator (mallopt(3)): M_ARENA_MAX, M_MMAP_THRESHOLD and M_TRIM_THRESHOLD, in bytes.

By default each thread has an arena of its own, and blocks of up to 32 MiB are taken from it: what twenty threads once
needed for large entries stays with the process. So, free blocks of a megabyte go back to the kernel at once.
"""


RESERVE = 256
"""Open files that are kept for databases, logs and upstreams, unless that is more than half of those allowed."""


class GaveUp(SystemExit, Exception):
    """End a process that cannot start, with the exit code 1.

    Being an Exception, it makes twistd remove its PID file and tell the process that waits for the daemon; being a
    SystemExit, it leaves no traceback.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.code = 1


class Terminal:
    """The standard error of the process that started the server, for as long as the start takes.

    A daemon has none of its own, and twistd prints the first 100 bytes of the reason for which one cannot start.
    """

    def __init__(self) -> None:
        try:
            self._descriptor: int | None = os.dup(2)
        except OSError:  # It was closed before.
            self._descriptor = None

    def tell(self, line: str) -> bool:
        """Write `line` if this process is a daemon by now; return whether it was written."""
        if self._descriptor is None or os.path.sameopenfile(self._descriptor, 2):
            return False
        try:
            os.write(self._descriptor, f"{line}\n".encode(errors="replace"))
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Let go of it, so that nobody waits for the end of what a daemon may write."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def tune() -> None:
    """Set up the collector of garbage and the threads for a process that has loaded its index."""
    # What has been loaded stays: a collection that looked through it would hold everybody up.
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECT)
    sys.setswitchinterval(SWITCH)


def tune_allocator(environ: Mapping[str, str]) -> bool:
    """Have the C library give memory back, unless `environ` has settings for it; return whether it could be told."""
    if any(name.startswith("MALLOC_") or name == "GLIBC_TUNABLES" for name in environ):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # It is another C library.
        return False
    return all(mallopt(parameter, value) for parameter, value in MALLOC.items())


def raise_file_limit() -> int:
    """Let this process open as many files as it may let itself; return how many (getrlimit(2), RLIMIT_NOFILE)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError):  # macOS says that there is no limit, and then has one.
        return soft
    return hard


def client_sockets(files: int) -> int:
    """Return how many of the `files` that may be open may be sockets of clients."""
    return files - min(RESERVE, files // 2)


def handle_signals(reactor: Any, reopen: Callable[[], None]) -> None:
    """Have SIGHUP call `reopen` on `reactor`, and keep SIGUSR1 and SIGUSR2 from ending the process.

    Without a handler all three end it (signal(7)). twistd has one for SIGUSR1 where it writes a log file, which stays.
    """
    signal.signal(signal.SIGHUP, lambda *_: reactor.callFromThread(reopen))
    for number in (signal.SIGUSR1, signal.SIGUSR2):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.SIG_IGN)


def fail_at_exit() -> None:
    """Have the process end with the exit code 1, once twistd has stopped as it does after a signal.

    twistd ends with 0 whenever the reactor was stopped, and systemd would take that for a clean end.
    """
    atexit.register(_fail)


def _fail() -> None:
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(1)

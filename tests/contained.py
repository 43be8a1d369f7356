"""Run a command, and end all processes that it has started when it ends or is stopped.

    python tests/contained.py COMMAND ...

`make check` runs pytest with it. The workers of pytest, servers and databases would otherwise outlive a pytest that
SIGTERM or a second Ctrl-C ends. A signal first interrupts the command, so that it can clean up; a second one ends it.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from math import inf
from pathlib import Path
from time import monotonic, sleep

INTERRUPTED = 15.0
"""Seconds for a command that was interrupted."""

LEFT = 3.0
"""Seconds for processes that outlive the command, such as guards that stop a database, and again after SIGTERM."""

_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of prctl(2): processes whose parent has ended become children of this one."""


def main() -> int:
    """Run the command of the arguments; return its exit code, 128 and the number of a signal that ended it."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    received: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: received.append(number))
    command = subprocess.Popen(sys.argv[1:])
    end = inf
    while command.poll() is None:
        sleep(0.05)
        if received and end == inf:
            end = monotonic() + INTERRUPTED
            # A terminal has sent SIGINT to the command too.
            if received[0] != signal.SIGINT:
                command.send_signal(signal.SIGINT)
        if len(received) > 1 or monotonic() > end:
            command.kill()
    _end_descendants()
    code = -received[0] if received else command.returncode
    return code if code >= 0 else 128 - code


def _end_descendants() -> None:
    for number in (0, signal.SIGTERM, signal.SIGKILL):
        end = monotonic() + LEFT
        # A process that ends leaves its children to this one.
        while (processes := [*_descendants(os.getpid())]) and monotonic() < end:
            for process in processes:
                with suppress(ProcessLookupError):
                    os.kill(process, number)
            sleep(0.05)


def _descendants(process: int) -> Iterator[int]:
    """Yield the ids of the processes below `process`. Children of this process that have ended are reaped."""
    for thread in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, thread.read_text("ascii").split()):
                if process != os.getpid() or os.waitpid(child, os.WNOHANG) == (0, 0):
                    yield child
                    yield from _descendants(child)


if __name__ == "__main__":
    sys.exit(main())

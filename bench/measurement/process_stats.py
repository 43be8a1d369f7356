"""Statistics of a process from /proc: CPU time, memory, threads, open files and sockets."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")

IDLE, WINDOW, BUSY = 0.1, 0.5, 60.0
"""Share of a core that an idle process uses at most, seconds in which it is measured, and the longest wait."""


def cpu_seconds(processes: Iterable[int]) -> float:
    """Return the CPU seconds of processes and of their ended children, user and system (proc_pid_stat(5)).

    The resolution is one clock tick, usually 10 ms.
    """
    stats = [Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split() for process in processes]
    return sum(int(ticks) for fields in stats for ticks in fields[11:15]) / _TICK


def wait_until_idle(processes: Iterable[int]) -> None:
    """Wait until processes use less than IDLE of a core: servers load tables beside their start. Raises SystemExit."""
    running, end = tuple(processes), time.monotonic() + BUSY
    while True:
        used = cpu_seconds(running)
        time.sleep(WINDOW)
        if cpu_seconds(running) - used <= IDLE * WINDOW:
            return
        if time.monotonic() > end:
            raise SystemExit(f"a server without requests uses the processor for more than {BUSY:.0f} seconds")


class CpuMeter:
    """Measures the CPU seconds that processes use from now on, user and system.

    The times of the threads have a resolution of nanoseconds, but an ended thread has none. Where they miss something,
    the times of the processes are used, whose resolution is a clock tick.
    """

    def __init__(self, processes: Iterable[int]) -> None:
        self._processes = tuple(processes)
        self._seconds = cpu_seconds(self._processes)
        self._threads = self._thread_seconds()

    def seconds(self) -> float:
        """Return the CPU seconds since the meter was created."""
        threads = self._thread_seconds()
        by_process = cpu_seconds(self._processes) - self._seconds
        by_thread = sum(threads.values()) - sum(self._threads.values())
        tolerance = 2 * len(self._processes) / _TICK
        if self._threads.keys() <= threads.keys() and abs(by_process - by_thread) <= tolerance:
            return by_thread
        return by_process

    def _thread_seconds(self) -> dict[Path, float]:
        """Return the CPU seconds of each running thread (proc(5), schedstat)."""
        found = {}
        for process in self._processes:
            for each in Path(f"/proc/{process}/task").glob("*/schedstat"):
                # The thread may end in the meantime.
                with suppress(OSError):
                    found[each] = int(each.read_text().split()[0]) / 1e9
        return found


def memory(process: int) -> int:
    """Return the resident memory (RSS) of a process in bytes (proc_pid_status(5))."""
    return _status(process, "VmRSS") * 1024


def peak_memory(process: int) -> int:
    """Return the largest resident memory so far of a process in bytes."""
    return _status(process, "VmHWM") * 1024


def proportional_memory(process: int) -> int:
    """Return the PSS of a process in bytes: a page that n processes share counts 1/n (proc_pid_smaps(5))."""
    text = Path(f"/proc/{process}/smaps_rollup").read_text()
    return int(text.partition("\nPss:")[2].split()[0]) * 1024


def children(process: int) -> list[int]:
    """Return the ids of the child processes."""
    return [int(each) for each in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def open_files(process: int) -> Iterator[str]:
    """Yield the names of the open files of a process."""
    for each in Path(f"/proc/{process}/fd").iterdir():
        # The file may be closed in the meantime.
        with suppress(FileNotFoundError):
            yield os.readlink(each)


def _status(process: int, field: str) -> int:
    return int(Path(f"/proc/{process}/status").read_text().partition(f"{field}:")[2].split()[0])

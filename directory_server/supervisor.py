"""The parent of several server processes: it starts them, restarts those that end, and passes signals on.

    python -I -S supervisor.py COUNT COMMAND ...

`twistd directory` with the setting `processes` executes this file in its place, so the id of the process and its
environment stay. It imports no other module of the package and no library: it takes 10 MB of memory instead of 100.
`workers.py` is its counterpart in the server processes.
"""

from __future__ import annotations

import ctypes
import math
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress

VARIABLE = "DIRECTORY_WORKERS"
"""The environment variable of a server process: the descriptor for reports, the supervisor's id, its numbers."""

FORKED, STARTING, READY = "forked", "starting", "ready"
"""Reports of a process, with its number and id: it was forked; it starts; it serves. The last two are repeated."""

INTERVAL = 1.0
"""Seconds between two reports of a process."""

SILENCE = 30.0
"""Seconds without a report after which a process is killed: it is stopped, or its reactor is blocked."""

FORWARDED = (signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
"""Signals that all server processes get."""

STOPPING = (signal.SIGTERM, signal.SIGINT)

STEADY = 60.0
"""Seconds for which a process must have served before its end counts as the first one again."""

LONGEST = 60.0
"""Maximum delay of a restart, in seconds."""

_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of prctl(2): processes whose parent has ended become children of this one."""

_REPORTS = 65_536


class Worker:
    """One of the server processes, by its number. `pid` is None while it does not run."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.pid: int | None = None
        self.ready_at: float | None = None
        self.ended_at: float | None = None
        self.silence = -math.inf
        """Seconds since its last report, negative before the first one."""
        self.waiting: set[signal.Signals] = set()
        """Signals that it gets when it serves. Before that it has no handlers, and would end."""
        self.failures = 0
        """Number of its ends since it has served for STEADY."""

    def end(self, now: float) -> None:
        """Note the end of the process."""
        is_steady = self.ready_at is not None and now - self.ready_at >= STEADY
        self.failures = 1 if is_steady else self.failures + 1
        self.pid, self.ready_at, self.silence, self.ended_at = None, None, -math.inf, now


class Supervisor:
    """Runs `command` as `count` server processes, until a signal stops them or one of them cannot start.

    `start` executes the command with an environment and returns the id of the process. The first process imports the
    server and forks the others, which so share its memory. A process that is restarted is executed again.
    """

    def __init__(
        self,
        count: int,
        start: Callable[[Mapping[str, str]], int],
        environ: Mapping[str, str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._workers = {number: Worker(number) for number in range(1, count + 1)}
        self._start = start
        self._environ = environ
        self._clock = clock
        self._checked_at = clock()
        self._failed_starts = 0
        """Number of processes that have ended before they served, since the end of one that served."""
        self._has_started = False
        self._stopping = False
        self._code = 0
        self._reports, self._reporting = os.pipe()
        # A stopped supervisor must not block the reactors that report to it.
        for descriptor in (self._reports, self._reporting):
            os.set_blocking(descriptor, False)
        os.set_inheritable(self._reporting, True)
        self._rest = ""

    def run(self) -> int:
        """Run until all processes have ended; return the exit code."""
        with _Signals() as received:
            self._execute([*self._workers])
            while self._running():
                select.select([received, self._reports], [], [], self._timeout())
                for number in _read(received):
                    self._handle(signal.Signals(number))
                self._reap()
                self._kill_silent()
                self._restart()
        return self._code

    def _execute(self, numbers: Sequence[int]) -> None:
        """Start a process that becomes the first of `numbers` and forks the others."""
        described = f"{self._reporting} {os.getpid()} {','.join(map(str, numbers))}"
        # Only this process notifies systemd: it is the main process of the service.
        environ = {name: text for name, text in self._environ.items() if name != "NOTIFY_SOCKET"}
        worker = self._workers[numbers[0]]
        worker.pid, worker.ended_at = self._start(environ | {VARIABLE: described}), None

    def _running(self) -> bool:
        return not self._stopping or any(worker.pid is not None for worker in self._workers.values())

    def _timeout(self) -> float:
        return max(min(INTERVAL, *map(self._restart_in, self._workers.values())), 0)

    def _handle(self, number: signal.Signals) -> None:
        if number in STOPPING:
            self._stopping = True
            self._send(signal.SIGTERM)
        elif number in FORWARDED:
            for worker in self._workers.values():
                worker.waiting.add(number)
            self._forward()

    def _send(self, number: signal.Signals) -> None:
        for worker in self._workers.values():
            # A child that has ended keeps its id until it is reaped.
            if worker.pid is not None:
                os.kill(worker.pid, number)

    def _forward(self) -> None:
        for worker in self._workers.values():
            while worker.pid is not None and worker.ready_at is not None and worker.waiting:
                os.kill(worker.pid, worker.waiting.pop())

    def _reap(self) -> None:
        """Handle the reports and the ends of processes. A report precedes the end of its process."""
        ended = dict(_ended_children())
        *reports, self._rest = (self._rest + _read(self._reports).decode()).split("\n")
        for report in reports:
            what, number, process = report.split()
            worker = self._workers[int(number)]
            worker.pid, worker.silence = int(process), 0.0
            if what == READY and worker.ready_at is None:
                worker.ready_at = self._clock()
            elif what == FORKED and self._stopping and worker.pid not in ended:
                os.kill(worker.pid, signal.SIGTERM)
        if not self._has_started and all(worker.ready_at is not None for worker in self._workers.values()):
            self._has_started = True
            notify_systemd(self._environ)
        by_pid = {worker.pid: worker for worker in self._workers.values() if worker.pid in ended}
        # First all of them: the id of a process that has ended must not get a signal.
        for worker in by_pid.values():
            self._end(worker)
        for pid, worker in by_pid.items():
            self._ended(worker, pid, os.waitstatus_to_exitcode(ended[pid]))
        self._forward()

    def _end(self, worker: Worker) -> None:
        self._failed_starts = self._failed_starts + 1 if worker.ready_at is None else 0
        worker.end(self._clock())

    def _restart_in(self, worker: Worker) -> float:
        """Return the seconds until the restart of `worker`: 1, 2, 4, … up to LONGEST after its end, inf if none is due.

        While no process serves, the delay grows only with the starts that have failed since one served.
        """
        if worker.ended_at is None or self._stopping:
            return math.inf
        is_served = any(other.ready_at is not None for other in self._workers.values())
        failures = worker.failures - 1 if is_served else min(worker.failures - 1, self._failed_starts)
        # A float has no power of 2 beyond 1,023.
        return worker.ended_at + min(2.0 ** min(failures, 10), LONGEST) - self._clock()

    def _ended(self, worker: Worker, pid: int, code: int) -> None:
        if self._stopping:
            return
        is_killed = code < 0 and any(other.ready_at is not None for other in self._workers.values())
        if not self._has_started and not is_killed:
            # The process has printed the reason. systemd or the operator decide on a further start.
            self._stopping, self._code = True, code if code > 0 else 1
            self._send(signal.SIGTERM)
            return
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        delay = self._restart_in(worker)
        _log(f"Process {worker.number} (id {pid}) has ended: {how}. It starts again in {delay:.0f} s.")

    def _kill_silent(self) -> None:
        now = self._clock()
        # On a frozen machine this process did not run either.
        elapsed, self._checked_at = min(now - self._checked_at, 2 * INTERVAL), now
        for worker in self._workers.values():
            worker.silence += elapsed
            if worker.pid is not None and worker.silence >= SILENCE:
                _log(f"Process {worker.number} (id {worker.pid}) has not reported for {SILENCE:.0f} s and is killed.")
                worker.silence = 0.0
                os.kill(worker.pid, signal.SIGKILL)

    def _restart(self) -> None:
        for worker in self._workers.values():
            if self._restart_in(worker) <= 0:
                try:
                    self._execute([worker.number])
                except OSError as error:
                    self._end(worker)
                    delay = self._restart_in(worker)
                    _log(f"Process {worker.number} cannot be started: {error}. The next try is in {delay:.0f} s.")


def notify_systemd(environ: Mapping[str, str]) -> None:
    """Notify systemd that the service has started, if `environ` has NOTIFY_SOCKET (sd_notify(3))."""
    address = environ.get("NOTIFY_SOCKET")
    if address:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notifying:
            # A leading @ means the abstract namespace of Linux.
            notifying.sendto(b"READY=1", address.replace("@", "\0", 1) if address[0] == "@" else address)


class _Signals:
    """A descriptor that receives the number of each signal as a byte, while the block runs."""

    def __enter__(self) -> int:
        self._read, self._write = os.pipe()
        for descriptor in (self._read, self._write):
            os.set_blocking(descriptor, False)
        self._wakeup = signal.set_wakeup_fd(self._write)
        numbers = (*STOPPING, *FORWARDED, signal.SIGCHLD)
        self._before = {number: signal.signal(number, lambda *_: None) for number in numbers}
        return self._read

    def __exit__(self, *_: object) -> None:
        signal.set_wakeup_fd(self._wakeup)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        os.close(self._read)
        os.close(self._write)


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _REPORTS)
    except BlockingIOError:
        return b""


def _ended_children() -> Iterator[tuple[int, int]]:
    """Yield the id and the status of each child that has ended."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        yield pid, status


def _log(line: str) -> None:
    text = f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')} [directory_server.supervisor#error] {line}\n"
    # The processes must outlive a full disk and a closed pipe.
    with suppress(OSError):
        os.write(2, text.encode(errors="replace"))


def _adopt_orphans() -> None:
    """Become the parent of forked processes whose parent has ended. Raises OSError."""
    if ctypes.CDLL(None, use_errno=True).prctl(_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def main() -> None:
    """Run the supervisor that the arguments describe; exit with its code."""
    count, command = int(sys.argv[1]), sys.argv[2:]
    _adopt_orphans()

    def start(environ: Mapping[str, str]) -> int:
        # A terminal sends SIGINT to a whole process group, and the server processes get their signals from here.
        return os.posix_spawn(command[0], command, environ, setpgroup=0)

    sys.exit(Supervisor(count, start, os.environ).run())


if __name__ == "__main__":
    main()

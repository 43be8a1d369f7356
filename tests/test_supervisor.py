"""The supervisor: delays before restarts, signals, and processes that end."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping

import pytest

from directory_server import supervisor, workers
from directory_server.supervisor import LONGEST, SILENCE, STEADY, VARIABLE, Supervisor

FIRST, SECOND = 10_000_001, 10_000_002
"""Ids that no process has: they are above the limit of Linux."""


def report(environ: Mapping[str, str], line: str) -> None:
    """Send a report as the server process with this environment does."""
    os.write(int(environ[VARIABLE].split()[0]), f"{line}\n".encode())


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Return the list of signals that are sent, each with the id of the process."""
    signals: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "kill", lambda pid, number: signals.append((pid, number)))
    return signals


class Fleet:
    """A supervisor of two processes that only report, with a clock of its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.pids: dict[int, int] = {}
        """The ids of the processes that run."""
        self._next_pid = SECOND
        self._ends: list[tuple[int, int]] = []
        monkeypatch.setattr(supervisor, "_ended_children", lambda: [self._ends.pop() for _ in self._ends[:]])
        self.supervisor = Supervisor(2, self._start, {}, lambda: self.now)
        self.supervisor._execute([1, 2])
        self.pids[2] = FIRST
        self.report("forked", 2)
        self.report("ready", 1)
        self.report("ready", 2)
        self.turn()

    def _start(self, environ: Mapping[str, str]) -> int:
        self.environ = environ
        number = int(environ[VARIABLE].split()[2].split(",")[0])
        self.pids[number] = self._next_pid
        self._next_pid += 1
        return self.pids[number]

    def report(self, what: str, number: int) -> None:
        report(self.environ, f"{what} {number} {self.pids[number]}")

    def end(self, *numbers: int) -> None:
        self._ends += [(self.pids.pop(number), signal.SIGKILL.value) for number in numbers]
        self.turn()

    def turn(self) -> None:
        """Do what the supervisor does after each event."""
        self.supervisor._reap()
        self.supervisor._kill_silent()
        self.supervisor._restart()

    def pass_time(self, seconds: float, *reporting: int) -> None:
        """Let time pass, in which the processes `reporting` report each second."""
        for _ in range(round(seconds)):
            self.now += 1
            for number in reporting:
                self.report("ready", number)
            self.turn()

    def restart_delay(self, number: int, *reporting: int) -> int:
        """Let time pass until the process is started again; return the seconds."""
        for seconds in range(round(LONGEST) + 1):
            if number in self.pids:
                return seconds
            self.pass_time(1, *reporting)
        raise AssertionError(f"process {number} is not started")


@pytest.fixture
def fleet(monkeypatch: pytest.MonkeyPatch) -> Fleet:
    """Return two processes that serve."""
    return Fleet(monkeypatch)


def test_delay_doubles_up_to_a_limit(fleet: Fleet) -> None:
    delays = []
    for _ in range(8):
        fleet.end(1)
        delays.append(fleet.restart_delay(1, 2))
    assert delays == [1, 2, 4, 8, 16, 32, LONGEST, LONGEST]


def test_a_process_that_has_failed_for_a_day_is_still_restarted(fleet: Fleet) -> None:
    fleet.supervisor._workers[1].failures = 1_100
    fleet.end(1)
    assert fleet.restart_delay(1, 2) == LONGEST


def test_delay_of_a_process_that_served_for_long_is_the_first_one_again(fleet: Fleet) -> None:
    for seconds, delay in (1, 1), (STEADY / 2, 2), (STEADY + 1, 1), (1, 2):
        fleet.pass_time(seconds, 1, 2)
        fleet.end(1)
        assert fleet.restart_delay(1, 2) == delay


def test_all_processes_start_at_once_when_the_last_one_that_served_ends(fleet: Fleet) -> None:
    for _ in range(6):
        fleet.end(1)
        fleet.restart_delay(1, 2)
    fleet.end(1)
    fleet.pass_time(2, 2)
    assert set(fleet.pids) == {2}
    fleet.end(2)
    fleet.pass_time(1)
    assert set(fleet.pids) == {1, 2}


def test_delay_doubles_while_processes_end_before_they_serve(fleet: Fleet) -> None:
    fleet.end(1, 2)
    fleet.restart_delay(2)
    delays = []
    for _ in range(4):
        fleet.restart_delay(1)
        fleet.end(1)
        delays.append(fleet.restart_delay(1))
    assert delays == [2, 4, 8, 16]
    # The end of a process that has served, if only for a second, has the first delay again.
    fleet.pass_time(1, 1)
    fleet.end(1)
    assert fleet.restart_delay(1) == 1


def test_a_process_that_does_not_report_is_killed_and_restarted(
    fleet: Fleet, sent: list[tuple[int, int]], capfd: pytest.CaptureFixture[str]
) -> None:
    silent = fleet.pids[2]
    fleet.pass_time(SILENCE - 2, 1)
    fleet.pass_time(SILENCE - 1, 1, 2)
    assert sent == []
    fleet.pass_time(SILENCE - 2, 1)
    assert sent == []
    fleet.pass_time(2, 1)
    assert sent == [(silent, signal.SIGKILL)]
    assert f"Process 2 (id {silent}) has not reported for 30 s and is killed." in capfd.readouterr().err
    fleet.end(2)
    assert fleet.restart_delay(2, 1) == 1


def test_a_process_that_stops_reporting_while_it_starts_is_killed(fleet: Fleet, sent: list[tuple[int, int]]) -> None:
    fleet.end(2)
    fleet.restart_delay(2, 1)
    # It imports the server before its first report.
    fleet.pass_time(2 * SILENCE, 1)
    assert sent == []
    fleet.report("starting", 2)
    fleet.pass_time(2, 1)
    assert fleet.supervisor._workers[2].ready_at is None
    fleet.pass_time(SILENCE - 2, 1)
    assert sent == [(fleet.pids[2], signal.SIGKILL)]


def test_a_pause_of_the_supervisor_is_no_silence_of_the_processes(fleet: Fleet, sent: list[tuple[int, int]]) -> None:
    # As on a machine that was frozen: the processes have not run either.
    fleet.now += 100 * SILENCE
    fleet.turn()
    assert sent == []


def test_reports_to_a_supervisor_that_does_not_read_are_lost(fleet: Fleet) -> None:
    worker = workers.Worker(1, int(fleet.environ[VARIABLE].split()[0]))
    for _ in range(20_000):
        worker.ready()
    fleet.turn()
    assert fleet.supervisor._workers[1].pid == os.getpid()


def test_a_process_reports_while_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "INTERVAL", 0.001)
    reading, writing = os.pipe()
    worker = workers.Worker(7, writing)
    worker.start()
    with open(reading, "rb") as reports:
        assert [reports.readline() for _ in range(2)] == [b"starting 7 %d\n" % os.getpid()] * 2
        worker.ready()
        os.close(writing)
        assert reports.readlines()[-1] == b"ready 7 %d\n" % os.getpid()


def test_signals_wait_until_a_process_serves(sent: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, str] = {}

    def start(environ: Mapping[str, str]) -> int:
        given.update(environ)
        report(environ, f"forked 2 {SECOND}")
        return FIRST

    monkeypatch.setattr(supervisor, "_ended_children", lambda: iter(()))
    running = Supervisor(2, start, {})
    running._execute([1, 2])
    running._reap()
    for _ in range(2):
        running._handle(signal.SIGHUP)
    assert sent == []
    report(given, f"ready 1 {FIRST}")
    running._reap()
    assert sent == [(FIRST, signal.SIGHUP)]
    running._handle(signal.SIGUSR1)
    report(given, f"ready 2 {SECOND}")
    running._reap()
    assert sorted(sent) == [
        (FIRST, signal.SIGHUP),
        (FIRST, signal.SIGUSR1),
        (SECOND, signal.SIGHUP),
        (SECOND, signal.SIGUSR1),
    ]


def test_processes_that_end_together_at_the_start_get_no_signal(
    sent: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(environ: Mapping[str, str]) -> int:
        report(environ, f"forked 2 {SECOND}")
        return FIRST

    ends = iter([(FIRST, 3 << 8), (SECOND, 1 << 8)])
    monkeypatch.setattr(supervisor, "_ended_children", lambda: ends)
    assert Supervisor(2, start, {}).run() == 3
    assert sent == []


def test_a_process_that_is_killed_at_the_start_is_restarted_while_another_one_serves(fleet: Fleet) -> None:
    """Such as by the kernel, when memory is short."""
    fleet.supervisor._has_started = False
    fleet.supervisor._workers[2].ready_at = None
    fleet.end(2)
    assert not fleet.supervisor._stopping
    assert fleet.restart_delay(2, 1) == 1
    fleet.report("ready", 2)
    fleet.turn()
    assert fleet.supervisor._has_started


@pytest.mark.parametrize(("ready", "status"), [(1, 3 << 8), (None, signal.SIGKILL.value)])
def test_the_service_ends_if_a_process_cannot_start_or_none_serves(
    fleet: Fleet, sent: list[tuple[int, int]], ready: int | None, status: int
) -> None:
    fleet.supervisor._has_started = False
    fleet.supervisor._workers[2].ready_at = None
    fleet.supervisor._workers[1].ready_at = ready
    fleet._ends.append((fleet.pids.pop(2), status))
    fleet.turn()
    assert fleet.supervisor._stopping
    assert sent == [(fleet.pids[1], signal.SIGTERM)]


@pytest.fixture
def full_disk() -> Iterator[None]:
    """Write what goes to the standard error to a full disk."""
    before, full = os.dup(2), os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, 2)
    yield
    os.dup2(before, 2)
    os.close(before)
    os.close(full)


@pytest.mark.usefixtures("full_disk")
def test_a_process_is_restarted_with_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []

    def start(environ: Mapping[str, str]) -> int:
        started.append(FIRST + len(started))
        report(environ, f"ready 1 {started[-1]}")
        return started[-1]

    now = 0.0
    ends = {1: [(FIRST, signal.SIGKILL.value)]}
    monkeypatch.setattr(supervisor, "_ended_children", lambda: iter(ends.pop(len(started), [])))
    running = Supervisor(1, start, {}, lambda: now)
    running._execute([1])
    running._reap()
    running._restart()
    assert started == [FIRST]
    now = 1.0
    running._restart()
    assert started == [FIRST, FIRST + 1]

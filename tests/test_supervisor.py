"""The supervisor: delays before restarts, signals, and processes that end."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping

import pytest

from directory_server import supervisor
from directory_server.supervisor import LONGEST, STEADY, VARIABLE, Supervisor, Worker

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


def test_delay_doubles_up_to_a_limit() -> None:
    worker = Worker(1)
    assert [worker.ended(now) for now in range(8)] == [1, 2, 4, 8, 16, 32, LONGEST, LONGEST]
    assert worker.restart_at == 7 + LONGEST


def test_delay_of_a_process_that_served_for_long_is_the_first_one_again() -> None:
    worker = Worker(1)
    for now in range(3):
        worker.ended(now)
    worker.ready_at = 10.0
    assert worker.ended(10.0 + STEADY / 2) == 8
    worker.ready_at = 100.0
    assert worker.ended(100.0 + STEADY) == 1


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

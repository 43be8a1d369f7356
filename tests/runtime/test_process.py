"""Allocator settings and timers of the process; start-up notification of systemd (sd_notify(3))."""

from __future__ import annotations

import gc
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from twisted.internet.task import Clock

from directory_server.runtime import machine, process
from directory_server.runtime.process import notify_systemd, watchdog_interval


@pytest.mark.parametrize("name", ["MALLOC_ARENA_MAX", "GLIBC_TUNABLES"])
def test_allocator_settings_of_the_operator_are_kept(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctypes.CDLL", lambda _: pytest.fail("mallopt was called"))
    assert not process.tune_allocator({name: "1"})


def test_all_allocator_parameters_are_set(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: dict[int, int] = {}

    class Library:
        @staticmethod
        def mallopt(parameter: int, value: int) -> int:
            calls[parameter] = value
            return 1

    monkeypatch.setattr("ctypes.CDLL", lambda _: Library)
    assert process.tune_allocator({})
    assert calls == process.MALLOC


def test_other_c_libraries_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctypes.CDLL", lambda _: object())
    assert not process.tune_allocator({})


def test_the_collector_pauses_and_then_ignores_what_was_created() -> None:
    with process.without_collections():
        assert not gc.isenabled()
        created: list[list[int]] = [[]]
    assert gc.isenabled()
    assert not any(each is created for each in gc.get_objects())
    gc.unfreeze()


def test_the_collector_ignores_objects_that_are_kept() -> None:
    kept: list[list[int]] = [[]]
    process.keep_objects()
    assert not any(each is kept for each in gc.get_objects())
    gc.unfreeze()


def test_timers_follow_the_monotonic_clock() -> None:
    reactor = Clock()
    reactor.rightNow = 1e9
    called: list[float] = []
    pending = reactor.callLater(5.0, called.append, 0.0)
    before = time.monotonic()
    machine.use_monotonic_timers(reactor)
    assert reactor.seconds is time.monotonic
    assert before + 5 <= pending.getTime() <= time.monotonic() + 5


@pytest.fixture
def notify_socket() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify_socket:
        notify_socket.setblocking(False)
        yield notify_socket


def test_ready_is_sent_to_the_socket(notify_socket: socket.socket, tmp_path: Path) -> None:
    notify_socket.bind(str(tmp_path / "socket"))
    notify_systemd({"NOTIFY_SOCKET": str(tmp_path / "socket")}, "READY=1")
    assert notify_socket.recv(100) == b"READY=1"


def test_ready_is_sent_to_an_abstract_socket(notify_socket: socket.socket, tmp_path: Path) -> None:
    notify_socket.bind(f"\0{tmp_path}")
    notify_systemd({"NOTIFY_SOCKET": f"@{tmp_path}"}, "READY=1")
    assert notify_socket.recv(100) == b"READY=1"


@pytest.mark.parametrize("environ", [{}, {"NOTIFY_SOCKET": ""}])
def test_nothing_is_sent_without_a_socket(environ: dict[str, str]) -> None:
    notify_systemd(environ, "READY=1")


@pytest.mark.parametrize(
    ("environ", "interval"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "30000000"}, 15.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
    ],
)
def test_signs_of_life_come_twice_as_often_as_systemd_expects_them(
    environ: dict[str, str], interval: float | None
) -> None:
    assert watchdog_interval(environ) == interval


def test_signs_of_life_are_those_of_this_process() -> None:
    assert watchdog_interval({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(os.getpid())}) == 15.0

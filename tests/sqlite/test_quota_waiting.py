"""Quota of a server: the reactor's thread never waits for locks or disks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from twisted.internet.defer import Deferred
from twisted.logger import LogEvent, LogLevel, capturedLogs

from directory_server.domain.errors import QuotaExceeded
from directory_server.domain.quota import Allowance
from directory_server.runtime.run_sync import run_sync
from directory_server.sqlite import _quota
from directory_server.sqlite._charge_group import RETRY

from .conftest import outcomes
from .server_quota import ServerQuota


@pytest.fixture
def start_server(tmp_path: Path) -> Iterator[Callable[..., ServerQuota]]:
    opened = []

    def start_server(**options: Any) -> ServerQuota:
        opened.append(ServerQuota(tmp_path, **options))
        return opened[-1]

    yield start_server
    for each in opened:
        each.close()


@pytest.fixture
def server(start_server: Callable[..., ServerQuota]) -> ServerQuota:
    return start_server()


@pytest.mark.parametrize("begin", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_charges_wait_for_a_foreign_lock_and_reads_do_not(server: ServerQuota, begin: str) -> None:
    server.foreign.execute(begin)
    charges = [server.charge(limit=3) for _ in range(5)]
    assert outcomes(*charges) == [...] * 5
    assert run_sync(server.quota.peek("k", 3)) == Allowance(3, 3, 0)
    assert run_sync(server.quota.last("k")) is None
    server.foreign.execute("ROLLBACK")
    server.clock.advance(RETRY)
    assert [each if isinstance(each, type) else each.remaining for each in outcomes(*charges)] == [
        2,
        1,
        0,
        QuotaExceeded,
        QuotaExceeded,
    ]
    assert server.count_requests() == 3
    assert outcomes(server.charge(limit=4)) == [Allowance(4, 0, 3600)]
    assert server.offload.pending == []


def test_durable_charges_share_one_commit_in_the_thread(start_server: Callable[..., ServerQuota]) -> None:
    server = start_server(synchronous="full")
    commits: list[str] = []
    charges = [server.charge() for _ in range(10)]
    assert server.count_requests() == 0
    with server.database.connection(wait=0) as connection:
        connection.set_trace_callback(commits.append)
    deliver = server.offload.compute_next()
    assert commits.count("COMMIT") == 1
    assert server.count_requests() == 10
    assert outcomes(*charges) == [...] * 10
    deliver()
    assert [each.remaining for each in outcomes(*charges)] == list(range(19, 9, -1))


def test_skips_pruning_while_another_process_writes(server: ServerQuota) -> None:
    for _ in range(3):
        run_sync(server.quota.charge("k", 20))
    server.clock.advance(3600)
    server.foreign.execute("BEGIN IMMEDIATE")
    with capturedLogs() as events:
        pruning = Deferred.fromCoroutine(server.quota.prune())
        server.offload.run_next()
    assert outcomes(pruning) == [None]
    assert [event for event in events if event["log_level"] >= LogLevel.warn] == []
    server.foreign.execute("ROLLBACK")
    pruning = Deferred.fromCoroutine(server.quota.prune())
    assert server.count_requests() == 3
    server.offload.run_next()
    assert outcomes(pruning) == [None]
    assert server.count_requests() == 1


def test_checkpoints_run_in_the_thread_and_restart_the_log(
    server: ServerQuota, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_quota, "CHECKPOINT", 10)
    for _ in range(9):
        run_sync(server.quota.charge("k", 1000))
    assert server.offload.pending == []
    number = server.checkpoint_number()
    run_sync(server.quota.charge("k", 1000))
    assert server.checkpoint_number() == number
    server.offload.run_next()
    # The checkpoint restarts the log, because a restart by the next commit would sync it in the reactor's thread.
    assert server.checkpoint_number() == number + 1
    run_sync(server.quota.charge("k", 1000))
    assert server.checkpoint_number() == number + 1
    assert server.count_requests() == 11


def test_an_idle_server_checkpoints_the_log(server: ServerQuota, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_quota, "CHECKPOINT", 3)
    run_sync(server.quota.charge("k", 1000))
    number = server.checkpoint_number()
    for _ in range(3):
        Deferred.fromCoroutine(server.quota.prune())
    while server.offload.pending:
        server.offload.run_next()
    assert server.checkpoint_number() == number + 1


def test_a_checkpoint_during_a_foreign_write_is_no_failure(
    server: ServerQuota, monkeypatch: pytest.MonkeyPatch, logged_failures: list[LogEvent]
) -> None:
    monkeypatch.setattr(_quota, "CHECKPOINT", 10)
    for _ in range(10):
        run_sync(server.quota.charge("k", 1000))
    server.foreign.execute("BEGIN IMMEDIATE")
    server.offload.run_next()
    server.foreign.execute("ROLLBACK")
    assert logged_failures == []
    assert outcomes(server.charge()) == [Allowance(20, 9, 3600)]

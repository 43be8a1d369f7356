"""The quota of a server: nothing waits for locks or disks in the reactor's thread."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.logger import LogEvent, LogLevel, capturedLogs

from directory_server.domain.errors import QuotaExceeded, Unavailable
from directory_server.domain.quota import Allowance
from directory_server.run_sync import run_sync
from directory_server.sqlite import Database, SqliteQuota, _quota
from directory_server.sqlite._transactions import WAIT, TransactionQueue

from .conftest import Thread, outcomes


class Served:
    """The quota of a server whose database is at `folder`."""

    def __init__(self, folder: Path, **options: str) -> None:
        self.clock = Clock()
        self.clock.advance(1_000_000)
        self.thread = Thread()
        self.database = Database(folder, "quota", autocheckpoint=False, **options)  # type: ignore[arg-type]
        begin = self.database.transaction
        self.database.queue = TransactionQueue("quota.db", lambda *, wait=None: begin(wait=0), self.clock, self.thread)
        self.quota = SqliteQuota(self.database, self.clock.seconds)
        self.foreign = sqlite3.connect(self.database.path, isolation_level=None)

    def charge(self, limit: int = 20) -> Deferred[Allowance]:
        return Deferred.fromCoroutine(self.quota.charge("k", limit))

    def spent(self) -> int:
        with closing(sqlite3.connect(self.database.path)) as connection:
            return int(connection.execute("SELECT count(*) FROM spent").fetchone()[0])

    def log_number(self) -> int:
        """Return how often the write-ahead log was restarted (sqlite.org/fileformat2.html, section 4.1)."""
        return int.from_bytes(self.database.path.with_name("quota.db-wal").read_bytes()[12:16], "big")

    def close(self) -> None:
        assert self.database.queue is not None
        self.database.queue.stop()
        self.foreign.close()
        self.database.close()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    opened = []

    def serve(**options: str) -> Served:
        opened.append(Served(tmp_path, **options))
        return opened[-1]

    yield serve
    for each in opened:
        each.close()


@pytest.fixture
def served(serve: Callable[..., Served]) -> Served:
    return serve()


def test_charges_at_once_where_nothing_has_to_be_waited_for(served: Served) -> None:
    assert outcomes(served.charge()) == [Allowance(20, 19, 3600)]
    assert served.thread.asked == []


@pytest.mark.parametrize("begin", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_waits_in_the_thread_for_a_foreign_writer_and_answers_what_is_free(served: Served, begin: str) -> None:
    served.foreign.execute(begin)
    charges = [served.charge(limit=3) for _ in range(5)]
    assert outcomes(*charges) == [...] * 5
    assert run_sync(served.quota.peek("k", 3)) == Allowance(3, 3, 0)
    assert run_sync(served.quota.last("k")) is None
    served.foreign.execute("ROLLBACK")
    served.thread.step()
    assert [each if isinstance(each, type) else each.remaining for each in outcomes(*charges)] == [
        2,
        1,
        0,
        QuotaExceeded,
        QuotaExceeded,
    ]
    assert served.spent() == 3
    assert outcomes(served.charge(limit=4)) == [Allowance(4, 0, 3600)]
    assert served.thread.asked == []


def test_refuses_after_a_second_and_spends_nothing(served: Served) -> None:
    served.foreign.execute("BEGIN IMMEDIATE")
    charges = [served.charge() for _ in range(3)]
    served.thread.step()
    served.clock.advance(WAIT)
    assert outcomes(*charges) == [Unavailable] * 3
    served.foreign.execute("ROLLBACK")
    served.thread.step()
    assert served.spent() == 0
    assert outcomes(served.charge()) == [Allowance(20, 19, 3600)]


def test_does_not_overtake_what_waits(served: Served) -> None:
    served.foreign.execute("BEGIN IMMEDIATE")
    first = served.charge()
    served.foreign.execute("ROLLBACK")
    second = served.charge()
    assert outcomes(first, second) == [..., ...]
    served.thread.step()
    assert [each.remaining for each in outcomes(first, second)] == [19, 18]


def test_a_durable_commit_is_the_threads_and_one_for_all_that_wait(serve: Callable[..., Served]) -> None:
    served = serve(synchronous="full")
    commits: list[str] = []
    charges = [served.charge() for _ in range(10)]
    assert served.spent() == 0
    with served.database.connection(wait=0) as connection:
        connection.set_trace_callback(commits.append)
    answer = served.thread.work()
    assert commits.count("COMMIT") == 1
    assert served.spent() == 10
    assert outcomes(*charges) == [...] * 10
    answer()
    assert [each.remaining for each in outcomes(*charges)] == list(range(19, 9, -1))


def test_skips_pruning_while_another_process_writes(served: Served) -> None:
    for _ in range(3):
        run_sync(served.quota.charge("k", 20))
    served.clock.advance(3600)
    served.foreign.execute("BEGIN IMMEDIATE")
    with capturedLogs() as events:
        pruning = Deferred.fromCoroutine(served.quota.prune())
        served.thread.step()
    assert outcomes(pruning) == [None]
    assert [event for event in events if event["log_level"] >= LogLevel.warn] == []
    served.foreign.execute("ROLLBACK")
    pruning = Deferred.fromCoroutine(served.quota.prune())
    assert served.spent() == 3
    served.thread.step()
    assert outcomes(pruning) == [None]
    assert served.spent() == 1


def test_copies_the_log_in_the_thread_and_begins_it_anew_there(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_quota, "CHECKPOINT", 10)
    for _ in range(9):
        run_sync(served.quota.charge("k", 1000))
    assert served.thread.asked == []
    number = served.log_number()
    run_sync(served.quota.charge("k", 1000))
    assert served.log_number() == number
    served.thread.step()
    # The first commit that follows does not begin the log: that would sync it to the disk.
    assert served.log_number() == number + 1
    run_sync(served.quota.charge("k", 1000))
    assert served.log_number() == number + 1
    assert served.spent() == 11


def test_copies_the_log_of_an_idle_server_too(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_quota, "CHECKPOINT", 3)
    run_sync(served.quota.charge("k", 1000))
    number = served.log_number()
    for _ in range(3):
        Deferred.fromCoroutine(served.quota.prune())
    while served.thread.asked:
        served.thread.step()
    assert served.log_number() == number + 1


def test_goes_on_with_the_log_where_another_process_writes_meanwhile(
    served: Served, monkeypatch: pytest.MonkeyPatch, logged_failures: list[LogEvent]
) -> None:
    monkeypatch.setattr(_quota, "CHECKPOINT", 10)
    for _ in range(10):
        run_sync(served.quota.charge("k", 1000))
    served.foreign.execute("BEGIN IMMEDIATE")
    served.thread.step()
    served.foreign.execute("ROLLBACK")
    assert logged_failures == []
    assert outcomes(served.charge()) == [Allowance(20, 9, 3600)]

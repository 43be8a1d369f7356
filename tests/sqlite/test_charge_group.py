"""Charges of one reactor turn: one transaction, and no response before its commit."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock
from twisted.logger import LogEvent

from directory_server.domain.errors import QuotaExceeded, Unavailable
from directory_server.domain.quota import Allowance
from directory_server.run_sync import inline, run_sync
from directory_server.sqlite import Database, MachineTime, SqliteQuota, _windows, quota_clock
from directory_server.sqlite._transactions import TransactionQueue
from directory_server.turn import ReactorTurn

from ..contract.quota import QuotaContract
from .conftest import ManualOffload, SqliteAdapterTest, outcomes


def queue_of(database: Database, clock: Clock, offload: ManualOffload | None = None) -> TransactionQueue:
    begin = database.transaction
    return TransactionQueue("quota.db", lambda *, wait=None: begin(wait=0), clock, offload or inline)


class TestServedQuota(SqliteAdapterTest, QuotaContract):
    """Two servers on one file, each with its own memory of windows."""

    async def quota(self, wall: Callable[[], float], uptime: Callable[[], float]) -> SqliteQuota:
        database = self.open_database("quota")
        database.queue = queue_of(database, self.clock)
        return SqliteQuota(database, quota_clock(database, MachineTime(wall, uptime, "f3a1")))


class Served:
    """The quota of a server whose database is in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.clock = Clock()
        self.clock.advance(1_000_000)
        self.offload = ManualOffload()
        self.database = Database(folder, "quota", autocheckpoint=False)
        self.queue = self.database.queue = queue_of(self.database, self.clock, self.offload)
        self.quota = SqliteQuota(self.database, self.clock.seconds, turn=ReactorTurn(self.clock))
        self.foreign = sqlite3.connect(self.database.path, isolation_level=None)
        self.statements: list[str] = []

    def charge(self, key_id: str = "k", limit: int = 20) -> Deferred[Allowance]:
        return Deferred.fromCoroutine(self.quota.charge(key_id, limit))

    def end_turn(self) -> None:
        self.clock.advance(0)

    def spent(self) -> int:
        with closing(sqlite3.connect(self.database.path)) as connection:
            return int(connection.execute("SELECT count(*) FROM spent").fetchone()[0])

    def trace(self, call: Callable[[str], None] | None = None) -> None:
        with self.database.connection(wait=0) as connection:
            connection.set_trace_callback(call or self.statements.append)

    def close(self) -> None:
        self.queue.stop()
        self.foreign.close()
        self.database.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    served = Served(tmp_path)
    yield served
    served.close()


def remaining(*charges: Deferred[Allowance]) -> list[object]:
    return [getattr(each, "remaining", each) for each in outcomes(*charges)]


def test_a_charge_that_comes_alone_does_not_wait_for_the_end_of_its_turn(served: Served) -> None:
    for left in (19, 18, 17):
        assert remaining(served.charge()) == [left]
        served.end_turn()


def test_charges_of_a_turn_are_one_transaction_at_its_end(served: Served) -> None:
    served.trace()
    charges = [served.charge() for _ in range(5)]
    assert remaining(*charges) == [19, ..., ..., ..., ...]
    assert served.spent() == 1
    served.end_turn()
    assert remaining(*charges) == [19, 18, 17, 16, 15]
    assert served.spent() == 5
    assert served.statements.count("COMMIT") == 2


def test_the_first_charge_of_a_turn_waits_for_others_if_the_last_turn_had_several(served: Served) -> None:
    for _ in range(2):
        charges = [served.charge() for _ in range(3)]
        served.end_turn()
        assert ... not in outcomes(*charges)
    first = served.charge()
    assert outcomes(first) == [...]
    served.end_turn()
    assert remaining(first) == [13]
    # It came alone, so the next one does not wait.
    assert remaining(served.charge()) == [12]


def test_no_charge_is_answered_before_the_commit_of_its_transaction(served: Served) -> None:
    charges = [served.charge() for _ in range(2)]
    served.end_turn()
    charges = [served.charge() for _ in range(3)]
    seen: list[tuple[str, list[object], int]] = []
    served.trace(lambda statement: seen.append((statement, outcomes(*charges), served.spent())))
    at_answer: list[int] = []

    def note(allowance: Allowance) -> Allowance:
        at_answer.append(served.spent())
        return allowance

    for charge in charges:
        charge.addCallback(note)
    served.end_turn()
    # The trace calls before each statement: until COMMIT runs, nobody is answered and nobody else sees the charges.
    assert [statement.split()[0] for statement, _, _ in seen][-1] == "COMMIT"
    assert all(pending == [..., ..., ...] and spent == 2 for _, pending, spent in seen)
    assert at_answer == [5, 5, 5]


def test_the_limit_holds_within_a_group(served: Served) -> None:
    charges = [served.charge(limit=3) for _ in range(5)]
    others = [served.charge("other", 1) for _ in range(2)]
    served.end_turn()
    assert remaining(*charges, *others) == [2, 1, 0, QuotaExceeded, QuotaExceeded, 0, QuotaExceeded]
    assert served.spent() == 4


def test_a_charge_whose_caller_gave_up_is_not_spent(served: Served) -> None:
    charges = [served.charge() for _ in range(3)]
    charges[1].addErrback(lambda failure: failure.trap(CancelledError))
    charges[1].cancel()
    served.end_turn()
    assert remaining(charges[0], charges[2]) == [19, 18]
    assert served.spent() == 2


def test_a_group_waits_in_the_queue_for_a_foreign_lock(served: Served) -> None:
    charges = [served.charge() for _ in range(3)]
    served.foreign.execute("BEGIN IMMEDIATE")
    served.end_turn()
    assert remaining(*charges) == [19, ..., ...]
    served.foreign.execute("ROLLBACK")
    served.offload.run_next()
    assert remaining(*charges) == [19, 18, 17]
    assert served.spent() == 3


def test_a_group_does_not_overtake_charges_in_the_queue(served: Served) -> None:
    charges = [served.charge() for _ in range(2)]
    served.foreign.execute("BEGIN IMMEDIATE")
    served.end_turn()
    served.foreign.execute("ROLLBACK")
    later = served.charge()
    served.end_turn()
    assert remaining(*charges, later) == [19, ..., ...]
    served.offload.run_next()
    assert remaining(*charges, later) == [19, 18, 17]


def fill(served: Served) -> None:
    """Let the file not grow any more."""
    with served.database.connection(wait=0) as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")


def test_a_group_that_cannot_be_written_is_rejected_and_nothing_of_it_is_spent(served: Served) -> None:
    assert remaining(served.charge()) == [19]
    served.end_turn()
    fill(served)
    large = [served.charge(f"{number}" * 900, 20) for number in range(20)]
    charges = [served.charge() for _ in range(3)]
    served.end_turn()
    assert outcomes(*charges) == [Unavailable] * 3
    answered = sum(isinstance(each, Allowance) for each in outcomes(*large))
    assert served.spent() == 1 + answered
    with served.database.connection(wait=0) as connection:
        connection.execute("PRAGMA max_page_count = 1000000")
    # The memory of windows has forgotten the group: the count is that of the file.
    charges = [served.charge() for _ in range(2)]
    served.end_turn()
    assert remaining(*charges) == [18, 17]
    assert run_sync(served.quota.peek("k", 20)) == Allowance(20, 17, 3600)


def test_an_unexpected_error_fails_all_charges_of_the_group(
    served: Served, monkeypatch: pytest.MonkeyPatch, logged_failures: list[LogEvent]
) -> None:
    charges = [served.charge() for _ in range(3)]

    def fail(*_: object) -> None:
        raise ValueError("a defect")

    with monkeypatch.context() as patched:
        patched.setattr(_windows, "_insert", fail)
        served.end_turn()
    assert outcomes(*charges[1:]) == [ValueError, ValueError]
    served.end_turn()
    assert remaining(served.charge()) == [...]
    served.end_turn()
    assert served.spent() == 2


def test_known_windows_are_not_looked_up_again_until_another_connection_writes(served: Served) -> None:
    def look_ups() -> int:
        found = sum(statement.startswith("SELECT at") for statement in served.statements)
        served.statements.clear()
        return found

    served.trace()
    for _ in range(3):
        served.charge()
        served.end_turn()
    assert look_ups() == 2
    served.foreign.execute("INSERT INTO spent VALUES ('k', 1000000, 4)")
    assert remaining(served.charge()) == [15]
    assert look_ups() == 2
    served.clock.advance(3600)
    assert remaining(served.charge()) == [19]
    assert look_ups() == 2


def test_the_memory_of_windows_is_bounded(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_windows, "REMEMBERED", 3)
    for number in range(10):
        served.charge(f"{number}")
        served.end_turn()
        assert len(served.quota._windows._memory.known) <= 4
    assert remaining(served.charge("1")) == [18]

"""Charges of one reactor turn: one transaction, and no response before its commit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from twisted.internet.defer import CancelledError, Deferred
from twisted.logger import LogEvent

from directory_server.domain.errors import QuotaExceeded, Unavailable
from directory_server.domain.ports.runtime import MachineTime
from directory_server.domain.quota import Allowance
from directory_server.runtime.run_sync import run_sync
from directory_server.sqlite import SqliteQuota, _charge_group, quota_clock
from directory_server.sqlite._charge_group import RETRY
from directory_server.sqlite._transactions import WAIT

from ..contract.quota import QuotaContract
from .conftest import SqliteAdapterTest, outcomes
from .server_quota import ServerQuota, queue_of


class TestServerQuota(SqliteAdapterTest, QuotaContract):
    """Two servers on one file."""

    async def quota(self, wall: Callable[[], float], uptime: Callable[[], float]) -> SqliteQuota:
        database = self.open_database("quota")
        database.queue = queue_of(database, self.clock)
        return SqliteQuota(database, quota_clock(database, MachineTime(wall, uptime, "f3a1")))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerQuota]:
    server = ServerQuota(tmp_path, grouped=True)
    yield server
    server.close()


def remaining(*charges: Deferred[Allowance]) -> list[object]:
    return [getattr(each, "remaining", each) for each in outcomes(*charges)]


def test_a_single_charge_does_not_wait_for_the_end_of_its_turn(server: ServerQuota) -> None:
    for left in (19, 18, 17):
        assert remaining(server.charge()) == [left]
        server.end_turn()


def test_charges_of_a_turn_are_one_transaction_at_its_end(server: ServerQuota) -> None:
    server.trace()
    charges = [server.charge() for _ in range(5)]
    assert remaining(*charges) == [19, ..., ..., ..., ...]
    assert server.count_requests() == 1
    server.end_turn()
    assert remaining(*charges) == [19, 18, 17, 16, 15]
    assert server.count_requests() == 5
    assert server.statements.count("COMMIT") == 2


def test_the_first_charge_of_a_turn_waits_for_others_if_the_last_turn_had_several(server: ServerQuota) -> None:
    for _ in range(2):
        charges = [server.charge() for _ in range(3)]
        server.end_turn()
        assert ... not in outcomes(*charges)
    first = server.charge()
    assert outcomes(first) == [...]
    server.end_turn()
    assert remaining(first) == [13]
    # That turn had one charge, so the next one does not wait.
    assert remaining(server.charge()) == [12]


def test_no_charge_returns_before_the_commit_of_its_transaction(server: ServerQuota) -> None:
    charges = [server.charge() for _ in range(2)]
    server.end_turn()
    charges = [server.charge() for _ in range(3)]
    seen: list[tuple[str, list[object], int]] = []
    server.trace(lambda statement: seen.append((statement, outcomes(*charges), server.count_requests())))
    stored_at_return: list[int] = []

    def record(allowance: Allowance) -> Allowance:
        stored_at_return.append(server.count_requests())
        return allowance

    for charge in charges:
        charge.addCallback(record)
    server.end_turn()
    # The trace runs before each statement: until COMMIT, no charge returns and no other connection sees the charges.
    assert [statement.split()[0] for statement, _, _ in seen][-1] == "COMMIT"
    assert all(pending == [..., ..., ...] and spent == 2 for _, pending, spent in seen)
    assert stored_at_return == [5, 5, 5]


def test_the_limit_holds_within_a_group(server: ServerQuota) -> None:
    charges = [server.charge(limit=3) for _ in range(5)]
    others = [server.charge("other", 1) for _ in range(2)]
    server.end_turn()
    assert remaining(*charges, *others) == [2, 1, 0, QuotaExceeded, QuotaExceeded, 0, QuotaExceeded]
    assert server.count_requests() == 4


def test_a_cancelled_charge_is_not_stored(server: ServerQuota) -> None:
    charges = [server.charge() for _ in range(3)]
    charges[1].addErrback(lambda failure: failure.trap(CancelledError))
    charges[1].cancel()
    server.end_turn()
    assert remaining(charges[0], charges[2]) == [19, 18]
    assert server.count_requests() == 2


def test_a_group_waits_for_a_foreign_lock_and_the_next_turns_join_it(server: ServerQuota) -> None:
    server.trace()
    charges = [server.charge() for _ in range(3)]
    server.foreign.execute("BEGIN IMMEDIATE")
    server.end_turn()
    charges.append(server.charge())
    server.end_turn()
    assert remaining(*charges) == [19, ..., ..., ...]
    server.foreign.execute("ROLLBACK")
    charges.append(server.charge())
    server.end_turn()
    assert remaining(*charges) == [19, 18, 17, 16, 15]
    assert server.count_requests() == 5
    assert server.statements.count("COMMIT") == 2
    # No try is left over.
    server.statements.clear()
    server.clock.advance(RETRY)
    assert server.statements == []


def test_a_group_tries_a_locked_file_again_without_further_turns(server: ServerQuota) -> None:
    server.foreign.execute("BEGIN IMMEDIATE")
    charges = [server.charge() for _ in range(2)]
    server.end_turn()
    server.clock.advance(RETRY)
    assert remaining(*charges) == [..., ...]
    server.foreign.execute("ROLLBACK")
    server.clock.advance(RETRY)
    assert remaining(*charges) == [19, 18]
    assert server.count_requests() == 2


def test_a_single_charge_waits_for_a_foreign_lock(server: ServerQuota) -> None:
    server.foreign.execute("BEGIN IMMEDIATE")
    charge = server.charge()
    assert remaining(charge) == [...]
    server.foreign.execute("ROLLBACK")
    server.end_turn()
    assert remaining(charge) == [19]
    # Other charges do not overtake those that wait, and wait no more afterwards.
    server.end_turn()
    server.clock.advance(RETRY)
    assert remaining(server.charge()) == [18]


def test_only_charges_that_waited_for_a_second_are_rejected(server: ServerQuota) -> None:
    server.foreign.execute("BEGIN IMMEDIATE")
    first = server.charge()
    server.clock.advance(WAIT / 2)
    second = server.charge()
    server.clock.advance(WAIT / 2)
    assert outcomes(first, second) == [Unavailable, ...]
    server.foreign.execute("ROLLBACK")
    server.clock.advance(RETRY)
    assert remaining(second) == [19]
    assert server.count_requests() == 1


def test_the_number_of_waiting_charges_is_bounded(server: ServerQuota, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_charge_group, "MAX_WAITING", 3)
    server.foreign.execute("BEGIN IMMEDIATE")
    charges = [server.charge() for _ in range(4)]
    server.end_turn()
    assert outcomes(*charges) == [..., ..., ..., Unavailable]


def test_the_charges_of_a_transaction_are_bounded(server: ServerQuota, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_charge_group, "MAX_TOGETHER", 2)
    charges = [server.charge() for _ in range(6)]
    server.end_turn()
    assert remaining(*charges) == [19, 18, 17, ..., ..., ...]
    server.clock.advance(RETRY)
    assert remaining(*charges) == [19, 18, 17, 16, 15, ...]
    server.clock.advance(RETRY)
    assert remaining(*charges) == [19, 18, 17, 16, 15, 14]


def fill(server: ServerQuota) -> None:
    """Prevent the file from growing."""
    with server.database.connection(wait=0) as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")


def test_a_single_charge_that_cannot_be_written_is_rejected_and_not_stored(server: ServerQuota) -> None:
    fill(server)
    for number in range(20):
        charge = server.charge(f"{number}" * 900, 20)
        server.end_turn()
        if outcomes(charge) == [Unavailable]:
            break
    assert outcomes(charge) == [Unavailable]
    assert server.count_requests() == number


def test_a_group_that_cannot_be_written_is_rejected_and_not_stored(server: ServerQuota) -> None:
    assert remaining(server.charge()) == [19]
    server.end_turn()
    fill(server)
    large = [server.charge(f"{number}" * 900, 20) for number in range(20)]
    charges = [server.charge() for _ in range(3)]
    server.end_turn()
    assert outcomes(*charges) == [Unavailable] * 3
    admitted = sum(isinstance(each, Allowance) for each in outcomes(*large))
    assert server.count_requests() == 1 + admitted
    with server.database.connection(wait=0) as connection:
        connection.execute("PRAGMA max_page_count = 1000000")
    # The count is that of the file.
    charges = [server.charge() for _ in range(2)]
    server.end_turn()
    assert remaining(*charges) == [18, 17]
    assert run_sync(server.quota.peek("k", 20)) == Allowance(20, 17, 3600)


def test_an_unexpected_error_fails_all_charges_of_the_group(
    server: ServerQuota, monkeypatch: pytest.MonkeyPatch, logged_failures: list[LogEvent]
) -> None:
    charges = [server.charge() for _ in range(3)]

    def fail(*_: object) -> None:
        raise ValueError("a defect")

    with monkeypatch.context() as patched:
        patched.setattr(_charge_group.Windows, "spend", fail)
        server.end_turn()
    assert outcomes(*charges[1:]) == [ValueError, ValueError]
    server.end_turn()
    assert remaining(server.charge()) == [...]
    server.end_turn()
    assert server.count_requests() == 2

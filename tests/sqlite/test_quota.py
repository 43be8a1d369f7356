"""SQLite adapter of Quota: pruning and full disks."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from twisted.internet.task import Clock

from directory_server.domain.errors import Unavailable
from directory_server.domain.ports.runtime import MachineTime
from directory_server.domain.quota import Allowance
from directory_server.runtime.run_sync import run_sync
from directory_server.sqlite import Database, SqliteQuota, _quota, quota_clock

from ..contract.quota import QuotaContract
from .conftest import SqliteAdapterTest


class TestSqliteQuota(SqliteAdapterTest, QuotaContract):
    boot = "f3a1"

    async def quota(self, wall: Callable[[], float], uptime: Callable[[], float]) -> SqliteQuota:
        database = self.open_database("quota")
        return SqliteQuota(database, quota_clock(database, MachineTime(wall, uptime, self.boot)))


@pytest.fixture
def quota(quota_database: Database, clock: Clock) -> SqliteQuota:
    return SqliteQuota(quota_database, clock.seconds)


def rows_per_key(database: Database) -> dict[str, int]:
    with database.connection() as connection:
        return dict(connection.execute("SELECT key, count(*) FROM spent GROUP BY key"))


def charge(quota: SqliteQuota, key_id: str, times: int = 1) -> None:
    for _ in range(times):
        run_sync(quota.charge(key_id, 1_000_000))


def test_prunes_expired_requests_only(quota: SqliteQuota, quota_database: Database, clock: Clock) -> None:
    charge(quota, "a", 3)
    charge(quota, "b", 2)
    clock.advance(1800)
    charge(quota, "b", 1)
    run_sync(quota.prune())
    assert rows_per_key(quota_database) == {"a": 3, "b": 3}
    clock.advance(1799)
    run_sync(quota.prune())
    assert rows_per_key(quota_database) == {"a": 3, "b": 3}
    clock.advance(1)
    run_sync(quota.prune())
    assert rows_per_key(quota_database) == {"a": 1, "b": 1}
    assert run_sync(quota.charge("b", 2)).remaining == 0


def test_prunes_a_limited_number_of_keys_in_turn(quota: SqliteQuota, quota_database: Database, clock: Clock) -> None:
    for key in "bcde":
        charge(quota, key, 2)
    clock.advance(3600)
    for key in "ab":
        charge(quota, key)
    run_sync(quota.prune(keys=3))
    assert rows_per_key(quota_database) == {"a": 1, "b": 1, "c": 1, "d": 2, "e": 2}
    run_sync(quota.prune(keys=3))
    assert rows_per_key(quota_database) == {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1}
    charge(quota, "a", 2)
    clock.advance(3600)
    run_sync(quota.prune(keys=3))
    assert rows_per_key(quota_database) == {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1}


def test_prunes_a_limited_number_of_rows(
    quota: SqliteQuota, quota_database: Database, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_quota, "PRUNED", 4)
    charge(quota, "a", 7)
    charge(quota, "b", 4)
    clock.advance(3600)
    run_sync(quota.prune())
    assert rows_per_key(quota_database) == {"a": 3, "b": 4}
    run_sync(quota.prune())
    assert rows_per_key(quota_database) == {"a": 1, "b": 2}
    run_sync(quota.prune())
    run_sync(quota.prune())
    assert rows_per_key(quota_database) == {"a": 1, "b": 1}


def test_a_failed_pruning_is_repeated_by_the_next_one(
    quota: SqliteQuota, quota_database: Database, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unavailable(**_: object) -> None:
        raise Unavailable("The disk is unavailable.")

    charge(quota, "a", 2)
    clock.advance(3600)
    with monkeypatch.context() as patch:
        patch.setattr(quota_database, "transaction", unavailable)
        run_sync(quota.prune())
    assert rows_per_key(quota_database) == {"a": 2}
    run_sync(quota.prune())
    assert rows_per_key(quota_database) == {"a": 1}


def test_returns_the_last_use_of_a_key_after_a_month(quota: SqliteQuota, clock: Clock) -> None:
    charge(quota, "a", 3)
    clock.advance(30 * 86_400)
    run_sync(quota.prune())
    assert run_sync(quota.last("a")) == 1_000_000.0
    assert run_sync(quota.peek("a", 3)) == Allowance(3, 3, 0)


def test_a_charge_on_a_full_disk_is_not_stored(quota: SqliteQuota, quota_database: Database) -> None:
    with quota_database.connection() as connection:
        connection.execute("PRAGMA max_page_count = 1")
    admitted: list[Allowance] = []
    with pytest.raises(Unavailable, match=r"quota\.db cannot be used now: the disk is full"):
        admitted.extend(run_sync(quota.charge("k", 1000)) for _ in range(1000))
    assert rows_per_key(quota_database) == {"k": len(admitted)}


def test_the_cost_of_a_charge_is_independent_of_the_number_of_requests(
    quota: SqliteQuota, quota_database: Database
) -> None:
    def steps() -> int:
        ticks: list[None] = []
        with quota_database.connection() as connection:
            connection.set_progress_handler(lambda: ticks.append(None), 1)
            charge(quota, "k")
            connection.set_progress_handler(None, 0)
        return len(ticks)

    charge(quota, "k", 10)
    before = steps()
    charge(quota, "k", 3000)
    assert steps() == before

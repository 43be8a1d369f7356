from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from twisted.internet.task import Clock

from directory_server.domain.errors import QuotaExceeded, Unavailable
from directory_server.domain.quota import Allowance
from directory_server.run_sync import run_sync
from directory_server.sqlite import Database, MachineTime, SqliteQuota, _quota, quota_clock

from ..contract.quota import QuotaContract
from .conftest import Open


class TestSqliteQuota(QuotaContract):
    boot = "f3a1"

    @pytest.fixture(autouse=True)
    def _databases(self, open_database: Open) -> None:
        self._open = open_database

    async def quota(self, wall: Callable[[], float], uptime: Callable[[], float]) -> SqliteQuota:
        database = self._open("quota")
        return SqliteQuota(database, quota_clock(database, MachineTime(wall, uptime, self.boot)))


class TestWithoutBootId(TestSqliteQuota):
    """The machine does not name its boots."""

    boot = ""


@pytest.fixture
def database(open_database: Open) -> Database:
    return open_database("quota")


@pytest.fixture
def clock() -> Clock:
    clock = Clock()
    clock.advance(1_000_000)
    return clock


@pytest.fixture
def quota(database: Database, clock: Clock) -> SqliteQuota:
    return SqliteQuota(database, clock.seconds)


def rows(database: Database) -> dict[str, int]:
    with database.connection() as connection:
        return dict(connection.execute("SELECT key, count(*) FROM spent GROUP BY key"))


def spend(quota: SqliteQuota, key_id: str, times: int = 1) -> None:
    for _ in range(times):
        run_sync(quota.charge(key_id, 1_000_000))


def test_prunes_what_is_out_of_the_window_and_nothing_else(
    quota: SqliteQuota, database: Database, clock: Clock
) -> None:
    spend(quota, "a", 3)
    spend(quota, "b", 2)
    clock.advance(1800)
    spend(quota, "b", 1)
    run_sync(quota.prune())
    assert rows(database) == {"a": 3, "b": 3}
    clock.advance(1799)
    run_sync(quota.prune())
    assert rows(database) == {"a": 3, "b": 3}
    clock.advance(1)
    run_sync(quota.prune())
    assert rows(database) == {"a": 1, "b": 1}
    assert run_sync(quota.charge("b", 2)).remaining == 0


def test_prunes_some_keys_at_a_time_and_all_in_turn(quota: SqliteQuota, database: Database, clock: Clock) -> None:
    for key in "bcde":
        spend(quota, key, 2)
    clock.advance(3600)
    for key in "ab":
        spend(quota, key)
    run_sync(quota.prune(keys=3))
    assert rows(database) == {"a": 1, "b": 1, "c": 1, "d": 2, "e": 2}
    run_sync(quota.prune(keys=3))
    assert rows(database) == {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1}
    spend(quota, "a", 2)
    clock.advance(3600)
    run_sync(quota.prune(keys=3))
    assert rows(database) == {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1}


def test_prunes_some_rows_at_a_time(
    quota: SqliteQuota, database: Database, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_quota, "PRUNED", 4)
    spend(quota, "a", 7)
    spend(quota, "b", 4)
    clock.advance(3600)
    run_sync(quota.prune())
    assert rows(database) == {"a": 3, "b": 4}
    run_sync(quota.prune())
    assert rows(database) == {"a": 1, "b": 2}
    run_sync(quota.prune())
    run_sync(quota.prune())
    assert rows(database) == {"a": 1, "b": 1}


def test_prunes_the_next_time_what_it_cannot_now(
    quota: SqliteQuota, database: Database, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unavailable(**_: object) -> None:
        raise Unavailable("The disk is away.")

    spend(quota, "a", 2)
    clock.advance(3600)
    with monkeypatch.context() as away:
        away.setattr(database, "transaction", unavailable)
        run_sync(quota.prune())
    assert rows(database) == {"a": 2}
    run_sync(quota.prune())
    assert rows(database) == {"a": 1}


def test_knows_when_a_key_was_last_used_however_long_ago_that_is(quota: SqliteQuota, clock: Clock) -> None:
    spend(quota, "a", 3)
    clock.advance(30 * 86_400)
    run_sync(quota.prune())
    assert run_sync(quota.last("a")) == 1_000_000.0
    assert run_sync(quota.peek("a", 3)) == Allowance(3, 3, 0)


def test_spends_nothing_when_the_disk_is_full(quota: SqliteQuota, database: Database) -> None:
    with database.connection() as connection:
        connection.execute("PRAGMA max_page_count = 1")
    admitted: list[Allowance] = []
    with pytest.raises(Unavailable, match=r"quota\.db cannot be used now: the disk is full"):
        admitted.extend(run_sync(quota.charge("k", 1000)) for _ in range(1000))
    assert rows(database) == {"k": len(admitted)}


def test_is_unavailable_once_closed(quota: SqliteQuota, database: Database) -> None:
    database.close()
    with pytest.raises(Unavailable):
        run_sync(quota.charge("k", 1))


def test_looks_at_a_few_rows_however_many_were_spent(quota: SqliteQuota, database: Database) -> None:
    def steps() -> int:
        ticks: list[None] = []
        with database.connection() as connection:
            connection.set_progress_handler(lambda: ticks.append(None), 1)
            spend(quota, "k")
            connection.set_progress_handler(None, 0)
        return len(ticks)

    spend(quota, "k", 10)
    few = steps()
    spend(quota, "k", 3000)
    assert steps() == few


def test_refuses_at_a_large_limit(quota: SqliteQuota) -> None:
    for _ in range(1000):
        run_sync(quota.charge("k", 1000))
    with pytest.raises(QuotaExceeded):
        run_sync(quota.charge("k", 1000))


CHARGER = """
    import sys, time
    from pathlib import Path
    from directory_server.run_sync import run_sync
    from directory_server.sqlite import Database, SqliteQuota
    from directory_server.domain.errors import QuotaExceeded

    print(flush=True)
    sys.stdin.readline()
    quota = SqliteQuota(Database(Path(sys.argv[1]), "quota"), time.time)
    admitted = 0
    for _ in range(200):
        try:
            run_sync(quota.charge("k", 300))
            admitted += 1
        except QuotaExceeded:
            pass
    print(admitted)
"""


@pytest.mark.process
def test_is_exact_between_real_processes_that_start_together(tmp_path: Path) -> None:
    chargers = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(CHARGER), str(tmp_path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for charger in chargers:
        assert charger.stdout is not None
        charger.stdout.readline()
    for charger in chargers:
        assert charger.stdin is not None
        charger.stdin.write("\n")
        charger.stdin.flush()
    admitted = [int(charger.communicate()[0]) for charger in chargers]
    assert sum(admitted) == 300

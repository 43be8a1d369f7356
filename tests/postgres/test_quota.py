"""PostgreSQL adapter of Quota: batches, the clock of the database, pruning, concurrent processes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from twisted.internet.defer import CancelledError, Deferred, gatherResults
from twisted.python.failure import Failure

from directory_server.domain.errors import QuotaExceeded, Unavailable
from directory_server.domain.quota import Allowance
from directory_server.postgres import Database, PostgresQuota, _quota
from directory_server.postgres._availability import Proof
from directory_server.runtime.run_sync import run_sync

from ..contract import awaited
from ..contract.quota import QuotaContract
from ..sqlite.conftest import run_concurrently
from .conftest import Open, OpenSession, PostgresAdapterTest


class TestPostgresQuota(PostgresAdapterTest, QuotaContract):
    async def quota(self, wall: Callable[[], float], uptime: Callable[[], float]) -> PostgresQuota:
        return PostgresQuota(self.open_database(), now=self.clock.seconds)


class TestPostgresQuotaInASession(QuotaContract):
    open_session: OpenSession

    @pytest.fixture(autouse=True)
    def _open_session(self, open_session: OpenSession) -> None:
        self.open_session = open_session

    async def quota(self, wall: Callable[[], float], uptime: Callable[[], float]) -> PostgresQuota:
        return PostgresQuota(self.open_session(), now=self.clock.seconds)


class Recorded:
    """Statements whose answers the test gives."""

    def __init__(self) -> None:
        self.batches: list[tuple[Sequence[str], Deferred[Any]]] = []

    async def run(self, statement: str, *parameters: Any, **_: object) -> Sequence[tuple[Any, ...]]:
        self.batches.append((parameters[0], Deferred()))
        rows: Sequence[tuple[Any, ...]] = await self.batches[-1][1]
        return rows


class Counted:
    """Statements on `database`, counted."""

    def __init__(self, database: Database) -> None:
        self.count = 0
        self._database = database

    async def run(self, statement: str, *parameters: Any, **_: object) -> Sequence[tuple[Any, ...]]:
        self.count += 1
        return await self._database.run(statement, *parameters)


def started(quota: PostgresQuota, key_id: str) -> Deferred[Allowance]:
    return Deferred.fromCoroutine(quota.charge(key_id, 9))


def spent(database: Database) -> list[tuple[str, float, int]]:
    return run_sync(database.read(lambda cursor: cursor.all("SELECT key, at, n FROM spent ORDER BY key, at, n")))


def test_a_charge_alone_leaves_at_once_and_others_go_together_in_order_of_keys() -> None:
    statements = Recorded()
    quota = PostgresQuota(statements)
    alone = started(quota, "k")
    assert [keys for keys, _ in statements.batches] == [["k"]]
    others = [started(quota, key_id) for key_id in "zab"]
    assert len(statements.batches) == 1
    statements.batches[0][1].callback([(True, 1, 3600.0)])
    assert alone.result == Allowance(9, 8, 3600)
    assert [keys for keys, _ in statements.batches] == [["k"], ["a", "b", "z"]]
    statements.batches[1][1].callback([(True, 1, 10.0), (True, 2, 20.0), (True, 3, 30.0)])
    assert [each.result for each in others] == [Allowance(9, 6, 30), Allowance(9, 8, 10), Allowance(9, 7, 20)]


def test_a_batch_has_a_limited_number_of_charges() -> None:
    statements = Recorded()
    quota = PostgresQuota(statements)
    for number in range(2 * _quota.BATCH + 2):
        started(quota, f"{number:04}")
    for size in (1, _quota.BATCH, _quota.BATCH, 1):
        keys, answer = statements.batches[-1]
        assert len(keys) == size
        answer.callback([(True, 1, 1.0)] * size)
    assert len(statements.batches) == 4


def test_a_batch_that_fails_fails_its_charges_only() -> None:
    statements = Recorded()
    quota = PostgresQuota(statements)
    first, second = started(quota, "a"), started(quota, "b")
    statements.batches[0][1].errback(Unavailable("Away."))
    errors: list[Failure] = []
    first.addErrback(errors.append)
    assert errors[0].type is Unavailable
    statements.batches[1][1].callback([(True, 1, 1.0)])
    assert second.result == Allowance(9, 8, 1)


def test_a_charge_that_is_cancelled_while_it_waits_is_not_spent() -> None:
    statements = Recorded()
    quota = PostgresQuota(statements)
    started(quota, "a")
    cancelled = started(quota, "b")
    cancelled.addErrback(lambda failure: failure.trap(CancelledError))
    cancelled.cancel()
    statements.batches[0][1].callback([(True, 1, 1.0)])
    assert len(statements.batches) == 1


@awaited
async def test_only_an_admitted_charge_shows_that_the_database_accepts_writes(open_session: OpenSession) -> None:
    session = open_session()
    quota, availability = PostgresQuota(session), session._database.availability
    await quota.charge("full", 1)
    availability.failed("its disk is full", "", Proof.CHARGE)
    await quota.peek("full", 1)
    with pytest.raises(QuotaExceeded):
        await quota.charge("full", 1)
    assert availability.fault == "its disk is full"
    await quota.charge("free", 1)
    assert availability.fault is None


@awaited
async def test_two_processes_admit_no_more_than_the_limit(open_session: OpenSession, database: Database) -> None:
    quotas = [PostgresQuota(open_session()), PostgresQuota(open_session())]
    outcomes: list[bool] = []

    async def charge(number: int) -> None:
        try:
            await quotas[number % 2].charge(f"key-{number % 3}", 20)
        except QuotaExceeded:
            outcomes.append(False)
        else:
            outcomes.append(True)

    await gatherResults([Deferred.fromCoroutine(charge(number)) for number in range(600)])
    assert outcomes.count(True) == 60
    assert [n for _, _, n in spent(database)] == [*range(1, 21)] * 3


def test_threads_with_keys_in_any_order_do_not_block_each_other(open_database: Open) -> None:
    databases = [open_database() for _ in range(4)]

    def charge(number: int) -> None:
        quota = PostgresQuota(databases[number])
        for turn in range(25):
            run_sync(quota.charge(f"key-{(turn * (number + 1)) % 5}", 1_000))

    run_concurrently(charge, 4)
    assert len(spent(databases[0])) == 100


def test_the_clock_is_that_of_the_database(database: Database) -> None:
    quota = PostgresQuota(database)
    before = time.time()
    run_sync(quota.charge("k", 3))
    last = run_sync(quota.last("k"))
    assert last is not None
    assert before - 60 < last < time.time() + 60
    assert run_sync(quota.peek("k", 3)) == Allowance(3, 2, 3600)


def add(database: Database, ahead: float, count: int) -> None:
    """Spend `count` requests `ahead` seconds from now, by a clock that was set back since."""
    run_sync(
        database.run(
            "INSERT INTO spent SELECT 'k', extract(epoch FROM clock_timestamp()) + $1::float8, n"
            " FROM generate_series(1, $2::int) n",
            ahead,
            count,
        )
    )


def test_requests_of_a_clock_that_was_ahead_count_from_now(database: Database) -> None:
    quota = PostgresQuota(database)
    add(database, 7200.0, 2)
    assert run_sync(quota.peek("k", 3)) == Allowance(3, 1, 3600)
    assert run_sync(quota.charge("k", 3)) == Allowance(3, 0, 3600)
    with pytest.raises(QuotaExceeded) as caught:
        run_sync(quota.charge("k", 3))
    assert caught.value.allowance == Allowance(3, 0, 3600)
    assert run_sync(quota.peek("k", 3)) == Allowance(3, 0, 3600)


def test_requests_of_a_clock_that_was_a_little_ahead_stay(database: Database) -> None:
    add(database, 3.0, 2)
    before = spent(database)
    assert run_sync(PostgresQuota(database).charge("k", 3)).remaining == 0
    assert spent(database)[:2] == before


@pytest.mark.parametrize(("together", "transactions"), [(1_000, 1), (2, 2)])
def test_prunes_expired_requests_but_the_newest_of_each_key(
    together: int, transactions: int, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_quota, "PRUNED", together)
    now, pruning = [1_000_000.0], Counted(database)
    quota = PostgresQuota(database, now=lambda: now[0], pruning=pruning)
    for key_id in ("a", "a", "b", "c"):
        run_sync(quota.charge(key_id, 9))
    now[0] += 3600
    run_sync(quota.charge("c", 9))
    run_sync(quota.prune())
    assert [(key, n) for key, _, n in spent(database)] == [("a", 2), ("b", 1), ("c", 2)]
    assert pruning.count == transactions
    assert run_sync(quota.last("a")) == 1_000_000.0


def test_a_key_deletes_its_own_expired_requests(database: Database) -> None:
    now = [1_000_000.0]
    quota = PostgresQuota(database, now=lambda: now[0])
    for _ in range(40):
        run_sync(quota.charge("a", 100))
        now[0] += 600
    assert len(spent(database)) < 6 + 16


def test_one_process_prunes_at_a_time(database: Database, open_database: Open) -> None:
    now = [1_000_000.0]
    quota = PostgresQuota(database, now=lambda: now[0])
    for _ in range(2):
        run_sync(quota.charge("a", 9))
    now[0] += 3600
    other = open_database()

    def hold(cursor: Any) -> None:
        cursor.execute("SELECT pg_advisory_xact_lock(0, 4)")
        run_sync(quota.prune())

    run_sync(other.write(hold))
    assert len(spent(database)) == 2
    run_sync(quota.prune())
    assert len(spent(database)) == 1

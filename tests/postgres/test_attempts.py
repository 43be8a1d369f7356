"""PostgreSQL adapter of Attempts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from directory_server.domain.errors import Throttled, Unavailable
from directory_server.domain.throttling import AttemptLimit
from directory_server.postgres import Database, PostgresAttempts
from directory_server.runtime.run_sync import run_sync

from ..contract.attempts import LIMIT, AttemptsContract
from .conftest import Open, PostgresAdapterTest

ROWS = "SELECT who FROM attempt"


class TestPostgresAttempts(PostgresAdapterTest, AttemptsContract):
    async def attempts(self, now: Callable[[], float]) -> PostgresAttempts:
        return PostgresAttempts(self.open_database(), now)


def test_all_processes_count_together_by_the_clock_of_the_database(open_database: Open) -> None:
    processes = [PostgresAttempts(open_database()) for _ in range(2)]
    rare = AttemptLimit("address", rate=1 / 3600, burst=4)
    for each in processes * 2:
        run_sync(each.charge(rare, "192.0.2.1"))
    for each in processes:
        with pytest.raises(Throttled) as error:
            run_sync(each.charge(rare, "192.0.2.1"))
        assert 3500 < error.value.retry_after <= 3600


def test_attempts_of_a_clock_that_was_ahead_do_not_count(database: Database) -> None:
    time = 1_000_000.0
    attempts = PostgresAttempts(database, lambda: time)
    rare = AttemptLimit("address", rate=1 / 60, burst=4)
    for _ in range(4):
        run_sync(attempts.charge(rare, "192.0.2.1"))
    time -= 2
    with pytest.raises(Throttled):
        run_sync(attempts.charge(rare, "192.0.2.1"))
    # Without the rule, nobody could sign in for two hours.
    time -= 2 * 3_600
    for _ in range(4):
        run_sync(attempts.charge(rare, "192.0.2.1"))
    with pytest.raises(Throttled) as error:
        run_sync(attempts.charge(rare, "192.0.2.1"))
    assert error.value.retry_after == 60


def test_stores_no_client_and_deletes_rows_that_no_longer_count(database: Database) -> None:
    time = 1_000_000.0
    attempts = PostgresAttempts(database, lambda: time)
    run_sync(attempts.charge(LIMIT, "ann@example.org"))
    ((who,),) = run_sync(database.read(lambda cursor: cursor.all(ROWS)))
    assert "ann" not in who
    run_sync(attempts.prune())
    assert len(run_sync(database.read(lambda cursor: cursor.all(ROWS)))) == 1
    time += 2
    run_sync(attempts.prune())
    assert run_sync(database.read(lambda cursor: cursor.all(ROWS))) == []


def test_a_database_that_is_away_is_pruned_later() -> None:
    database = Database("host=/nonexistent dbname=directory")
    attempts = PostgresAttempts(database)
    with pytest.raises(Unavailable):
        run_sync(attempts.prune())
    with pytest.raises(Unavailable):
        run_sync(attempts.charge(LIMIT, "one"))
    database.close()

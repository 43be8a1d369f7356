"""The clock of the database: machines whose own clocks differ agree on expiry and revocation."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from attrs import evolve

from directory_server.config import Config
from directory_server.postgres import Database, DatabaseClock
from directory_server.postgres._change_bus import EXACT
from directory_server.runtime.run_sync import run_sync
from directory_server.storage import Storage, command_environment, open_storage

from ..engines import Engine

HOURS = 3_600.0


def test_runs_from_the_last_exact_measurement() -> None:
    monotonic = 50.0
    clock = DatabaseClock(lambda: 1_000.0, lambda: monotonic)
    assert clock() == 1_000.0
    monotonic = 50.5
    # The answer is of some moment of the half second.
    clock.measured(5_000.0, 50.0)
    assert clock() == 5_000.25
    monotonic = 53.0 + EXACT
    clock.measured(9_000.0, 52.5)
    assert clock() == 5_002.75 + EXACT


def test_measures_the_clock_of_the_server(database: Database) -> None:
    clock = DatabaseClock(lambda: 0.0, time.monotonic)
    run_sync(clock.measure(database))
    assert abs(clock() - time.time()) < HOURS / 60


@pytest.fixture
def behind_and_ahead(engine: Engine) -> Iterator[tuple[Storage, Storage]]:
    """Return the storage of two machines, whose clocks are two hours behind and ahead."""
    both = []
    for shift in (-2 * HOURS, 2 * HOURS):

        def now(shift: float = shift) -> float:
            return time.time() + shift

        both.append(open_storage(Config(database=engine.conninfo), evolve(command_environment(), now=now, wall=now)))
    yield both[0], both[1]
    for storage in both:
        storage.close()


def test_a_key_that_a_machine_behind_revokes_ends_at_once_at_one_ahead(
    behind_and_ahead: tuple[Storage, Storage],
) -> None:
    behind, ahead = behind_and_ahead
    key, _ = run_sync(behind.people.keys.create("robot", limit=20, expires_at=None))
    run_sync(behind.people.keys.revoke(key.id))
    assert run_sync(ahead.people.keys.ended(60.0)) == {key.id}


def test_a_key_expires_by_the_clock_of_the_database(
    behind_and_ahead: tuple[Storage, Storage], database: Database
) -> None:
    both = behind_and_ahead
    _, secret = run_sync(both[0].people.keys.create("robot", limit=20, expires_at=time.time() + HOURS))
    assert [run_sync(storage.people.keys.find(secret)) is not None for storage in both] == [True, True]
    run_sync(database.run("UPDATE api_key SET expires_at = expires_at - $1::float8", 2 * HOURS))
    assert [run_sync(storage.people.keys.find(secret)) for storage in both] == [None, None]

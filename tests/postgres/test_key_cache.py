"""The cache of look-ups of keys on PostgreSQL, while no key has ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from twisted.internet.task import Clock

from directory_server.domain.keys import ApiKey
from directory_server.postgres import Database, PostgresKeyCache, PostgresTables, Pulse, _tables
from directory_server.postgres._pulse import CONFIRMED, end_keys
from directory_server.runtime.run_sync import run_sync
from directory_server.tables import StoredAccounts, StoredIdentities, StoredKeyRing

from ..contract.identities import IdentitiesContract
from ..contract.keyring import KeyRingContract
from ..contract.owned_keys import OwnedKeysContract
from ..engines import Engine
from ..process.conftest import TIMEOUT
from .conftest import Open, PostgresAdapterTest


class TestCachedKeyRing(PostgresAdapterTest, KeyRingContract, OwnedKeysContract, IdentitiesContract):
    """Keys with a cache; accounts are of the process of the first keys that the test opened."""

    @pytest.fixture(autouse=True)
    def _first_process(self) -> None:
        self.time = Clock()
        self.databases: list[Database] = []

    async def keys(self, now: Callable[[], float]) -> StoredKeyRing:
        database = self.open_database()
        self.databases.append(database)
        return StoredKeyRing(
            PostgresTables(database), now, PostgresKeyCache(database, Pulse(database, self.time.seconds))
        )

    async def accounts(self, now: Callable[[], float]) -> StoredAccounts:
        return StoredAccounts(PostgresTables(self.databases[0]), now)

    async def identities(self, now: Callable[[], float]) -> StoredIdentities:
        return StoredIdentities(PostgresTables(self.databases[0]), now)

    async def wait_a_second(self) -> None:
        self.time.advance(1.0)


class Process:
    """A process with a cache of keys: `asked` has the statements that it sent for single look-ups."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.clock = Clock()
        self.asked: list[str] = []
        self.pulse = Pulse(database, self.clock.seconds)
        self.cache = PostgresKeyCache(self, self.pulse)
        self.keys = StoredKeyRing(PostgresTables(database), lambda: 1_000_000.0, self.cache)

    async def run(self, statement: str, *parameters: object, **_: object) -> Any:
        self.asked.append(statement)
        return await self.database.run(statement, *parameters)

    def create(self) -> tuple[ApiKey, str]:
        return run_sync(self.keys.create("laptop", limit=20, expires_at=None))

    def found(self, secret: str) -> bool:
        return run_sync(self.keys.find(secret)) is not None

    def poll(self) -> None:
        """Read the counter as the bus does."""
        reading = self.pulse.begin()
        [(keys,)] = run_sync(self.database.run("SELECT keys FROM pulse"))
        self.pulse.confirm(reading, keys)


@pytest.fixture
def process(open_database: Open) -> Process:
    return Process(open_database())


@pytest.fixture
def other(open_database: Open) -> Process:
    return Process(open_database())


def test_asks_once_while_the_counter_is_confirmed(process: Process) -> None:
    _, secret = process.create()
    for _ in range(8):
        assert process.found(secret)
        process.clock.advance(0.25)
        process.poll()
    assert len(process.asked) == 1


def test_asks_again_when_nothing_has_confirmed_the_counter_for_a_second(process: Process) -> None:
    _, secret = process.create()
    process.found(secret)
    process.clock.advance(CONFIRMED - 0.01)
    process.found(secret)
    assert len(process.asked) == 1
    process.clock.advance(0.01)
    process.found(secret)
    assert len(process.asked) == 2


def payload_of(engine: Engine, run: Callable[[], object]) -> tuple[int, list[str]]:
    """Return the counter and the sorted ids of keys in the notification that `run` causes."""
    with psycopg.connect(engine.conninfo, autocommit=True) as server:
        server.execute("LISTEN directory")
        run()
        (notification,) = server.notifies(timeout=TIMEOUT, stop_after=1)
    kind, number, *key_ids = notification.payload.split()
    assert kind == "keys"
    return int(number), sorted(key_ids)


def test_only_the_key_of_a_notification_is_asked_for_again(process: Process, other: Process, engine: Engine) -> None:
    _, secret = process.create()
    key, ended = process.create()
    process.poll()
    for each in (secret, ended):
        assert process.found(each)
    assert len(process.asked) == 2
    changes = [
        lambda: other.keys.rename(key.id, "other"),
        lambda: other.keys.set_limit(key.id, 7),
        lambda: other.keys.revoke(key.id),
    ]
    for count, change in enumerate(changes):
        assert process.pulse.notified(*payload_of(engine, lambda change=change: run_sync(change())))  # type: ignore[misc]
        assert process.found(secret)
        assert len(process.asked) == count + 2
        found = run_sync(process.keys.find(ended))
        assert len(process.asked) == count + 3
    assert found is None
    process.poll()
    assert process.found(secret)
    assert len(process.asked) == 5


def test_a_missed_notification_ends_all_look_ups(process: Process, other: Process, engine: Engine) -> None:
    _, secret = process.create()
    key, ended = process.create()
    process.poll()
    for each in (secret, ended):
        assert process.found(each)
    payload_of(engine, lambda: run_sync(other.keys.revoke(key.id)))
    later = payload_of(engine, lambda: run_sync(other.keys.rename(key.id, "other")))
    assert not process.pulse.notified(*later)
    process.poll()
    assert not process.found(ended)
    assert process.found(secret)
    assert len(process.asked) == 4


def test_an_answer_from_before_a_notification_is_not_kept(process: Process, other: Process, engine: Engine) -> None:
    key, secret = process.create()
    process.poll()

    async def run_and_notify(statement: str, *parameters: object, **_: object) -> Any:
        rows = await process.database.run(statement, *parameters)
        assert process.pulse.notified(*payload_of(engine, lambda: run_sync(other.keys.revoke(key.id))))
        return rows

    process.run, before = run_and_notify, process.run  # type: ignore[method-assign]
    assert process.found(secret)
    process.run = before  # type: ignore[method-assign]
    assert not process.found(secret)


def test_a_notification_names_the_keys_of_an_account(process: Process, engine: Engine) -> None:
    accounts = StoredAccounts(PostgresTables(process.database), lambda: 1_000_000.0)
    ann = run_sync(accounts.add("ann@example.org"))
    keys = [
        run_sync(process.keys.create("laptop", limit=1, expires_at=None, owner=ann.id, most=7))[0] for _ in range(2)
    ]
    assert payload_of(engine, lambda: run_sync(accounts.disable(ann.id))) == (1, sorted(key.id for key in keys))
    assert payload_of(engine, lambda: run_sync(accounts.delete(ann.id))) == (2, sorted(key.id for key in keys))


def test_a_notification_of_too_many_keys_names_all(database: Database, engine: Engine) -> None:
    def end(count: int) -> None:
        run_sync(database.write(lambda cursor: end_keys(cursor, [f"{number:020}" for number in range(count)])))

    assert len(payload_of(engine, lambda: end(100))[1]) == 100
    assert payload_of(engine, lambda: end(1_000)) == (2, ["*"])
    assert payload_of(engine, lambda: end(0)) == (3, [])


def test_a_new_key_ends_no_look_up(process: Process, other: Process) -> None:
    _, secret = process.create()
    process.found(secret)
    other.create()
    process.poll()
    process.found(secret)
    assert len(process.asked) == 1


def test_asks_again_after_the_session_was_lost(process: Process) -> None:
    _, secret = process.create()
    process.found(secret)
    process.pulse.lose()
    process.found(secret)
    assert len(process.asked) == 2


def test_a_key_that_is_not_found_is_asked_for_each_time(process: Process, other: Process) -> None:
    key, secret = process.create()
    run_sync(process.keys.revoke(key.id))
    for _ in range(2):
        assert not process.found(secret)
    assert len(process.asked) == 2


@pytest.mark.parametrize("event", ["own revocation", "lost session", "other process"])
def test_an_answer_from_before_the_key_ended_is_not_kept(process: Process, other: Process, event: str) -> None:
    key, secret = process.create()
    rows: list[Any] = []

    async def run_and_end(statement: str, *parameters: object, **_: object) -> Any:
        rows.append(await process.database.run(statement, *parameters))
        if event == "own revocation":
            await process.keys.revoke(key.id)
        else:
            await other.keys.revoke(key.id)
            if event == "lost session":
                process.pulse.lose()
            else:
                process.clock.advance(0.1)
                process.poll()
        return rows[0]

    process.run, before = run_and_end, process.run  # type: ignore[method-assign]
    assert process.found(secret)
    process.run = before  # type: ignore[method-assign]
    assert not process.found(secret)


def test_the_cache_is_bounded(process: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_tables, "CACHED", 4)
    sizes = []
    for _ in range(8):
        assert process.found(process.create()[1])
        sizes.append(len(process.cache._known))
    # A full cache keeps the newest half.
    assert sizes == [1, 2, 3, 4, 3, 4, 3, 4]

"""The cache of look-ups of keys on SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing

import pytest
from twisted.internet.task import Clock

from directory_server.domain.keys import Client, KeyUse
from directory_server.domain.ports.runtime import Turn
from directory_server.runtime.run_sync import run_sync
from directory_server.runtime.turn import ImmediateTurn, ReactorTurn
from directory_server.sqlite import Database, SqliteKeyCache, SqliteTables, _tables
from directory_server.tables import StoredAccounts, StoredIdentities, StoredKeyRing, StoredKeyUses

from ..conftest import Open
from ..contract.identities import IdentitiesContract
from ..contract.keyring import KeyRingContract
from ..contract.owned_keys import OwnedKeysContract
from .conftest import SqliteAdapterTest


def open_keys(
    database: Database, *, turn: Turn | None = None, now: Callable[[], float] = lambda: 1_000_000.0
) -> StoredKeyRing:
    """Return the keys of a process; by default each look-up is a turn."""
    return StoredKeyRing(SqliteTables(database), now, SqliteKeyCache(database, turn or ImmediateTurn()))


class TestCachedKeyRing(SqliteAdapterTest, KeyRingContract, OwnedKeysContract, IdentitiesContract):
    async def keys(self, now: Callable[[], float]) -> StoredKeyRing:
        return open_keys(self.open_database("directory"), now=now)

    async def accounts(self, now: Callable[[], float]) -> StoredAccounts:
        return StoredAccounts(SqliteTables(self.open_database("directory")), now)

    async def identities(self, now: Callable[[], float]) -> StoredIdentities:
        return StoredIdentities(SqliteTables(self.open_database("directory")), now)


@pytest.fixture
def keys(directory_database: Database) -> StoredKeyRing:
    return open_keys(directory_database)


def test_caches_a_lookup_until_a_key_ends(
    directory_database: Database, keys: StoredKeyRing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_tables, "CACHED", 2)
    lookups: list[str] = []
    created = [run_sync(keys.create("laptop", limit=20, expires_at=None)) for _ in range(4)]
    with directory_database.connection() as connection:
        connection.set_trace_callback(lambda statement: lookups.append(statement) if "digest" in statement else None)
    for _ in range(3):
        for key, secret in created[:2]:
            assert run_sync(keys.find(secret)) == key
    assert len(lookups) == 2
    run_sync(keys.revoke(created[0][0].id))
    assert run_sync(keys.find(created[0][1])) is None
    assert run_sync(keys.find(created[1][1])) == created[1][0]
    assert len(lookups) == 4
    for key, secret in created[1:]:
        assert run_sync(keys.find(secret)) == key
    assert run_sync(keys.find(created[1][1])) == created[1][0]
    assert len(lookups) == 7


def test_other_writes_leave_the_cache(open_database: Open) -> None:
    database, other = open_database("directory"), open_database("directory")
    keys, lookups = open_keys(database), list[str]()
    (key, secret), (another, _) = [run_sync(keys.create("laptop", limit=20, expires_at=None)) for _ in range(2)]
    with database.connection() as connection:
        connection.set_trace_callback(lambda statement: lookups.append(statement) if "digest" in statement else None)
    for written in (database, other):
        accounts = StoredAccounts(SqliteTables(written), lambda: 1_000_000.0)
        assert run_sync(keys.find(secret)) == key
        run_sync(StoredKeyUses(SqliteTables(written)).record([KeyUse(key.id, 10.0, Client())]))
        assert run_sync(keys.find(secret)) == key
        run_sync(open_keys(written).create("desktop", limit=20, expires_at=None))
        ann = run_sync(accounts.register(f"{written is database}@example.org", "hash", most=9))
        run_sync(accounts.set_password(ann.id, "another hash"))
        assert run_sync(keys.find(secret)) == key
    assert len([each for each in lookups if each.strip().startswith("SELECT")]) == 1
    run_sync(open_keys(other).revoke(another.id))
    assert run_sync(keys.find(secret)) == key
    assert len([each for each in lookups if each.strip().startswith("SELECT")]) == 2


CHANGES = {
    "rename": "UPDATE api_key SET label = 'other'",
    "set the limit": "UPDATE api_key SET quota = 1",
    "revoke": "UPDATE api_key SET revoked_at = 1",
    "expire": "UPDATE api_key SET expires_at = 1",
    "end the secret": "UPDATE secret SET expires_at = 1",
    "delete the secret": "DELETE FROM secret",
    "delete the key": "PRAGMA foreign_keys = OFF; DELETE FROM api_key",
    "disable the owner": "UPDATE account SET disabled_at = 1",
    "approve the owner": "UPDATE account SET approved_at = 1",
}


@pytest.mark.parametrize("script", [pytest.param(script, id=name) for name, script in CHANGES.items()])
def test_each_change_of_a_key_empties_the_cache_of_other_processes(open_database: Open, script: str) -> None:
    database = open_database("directory")
    keys, accounts = open_keys(database), StoredAccounts(SqliteTables(database), lambda: 1_000_000.0)
    ann = run_sync(accounts.register("ann@example.org", "hash", most=9))
    key, secret = run_sync(keys.create("laptop", limit=20, expires_at=None, owner=ann.id))
    assert run_sync(keys.find(secret)) == key
    with closing(sqlite3.connect(database.path)) as connection:
        connection.executescript(script)
    found = run_sync(keys.find(secret))
    assert found != key
    assert found == run_sync(open_keys(database).find(secret))


def test_a_revoked_key_is_rejected_from_the_end_of_the_turn(open_database: Open) -> None:
    clock = Clock()
    keys = open_keys(open_database("directory"), turn=ReactorTurn(clock))
    other = open_keys(open_database("directory"))
    created = [run_sync(keys.create("laptop", limit=20, expires_at=None)) for _ in range(3)]
    for key, secret in created[:2]:
        assert run_sync(keys.find(secret)) == key
    for key, _ in created[1:]:
        run_sync(other.revoke(key.id))
    # The last one was not looked up before, so its row is read.
    assert run_sync(keys.find(created[2][1])) is None
    clock.advance(0)
    found = [run_sync(keys.find(secret)) for _, secret in created]
    assert found == [created[0][0], None, None]


def test_a_key_that_expires_within_a_turn_is_rejected(open_database: Open) -> None:
    now = [1_000_000.0]
    keys = open_keys(open_database("directory"), turn=ReactorTurn(Clock()), now=lambda: now[0])
    _, secret = run_sync(keys.create("laptop", limit=20, expires_at=1_000_010.0))
    assert run_sync(keys.find(secret)) is not None
    now[0] = 1_000_010.0
    assert run_sync(keys.find(secret)) is None

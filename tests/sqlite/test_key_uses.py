"""SQLite adapter of KeyUses."""

from __future__ import annotations

from collections.abc import Callable

from directory_server.domain.clients import Client
from directory_server.domain.keys import KeyUse
from directory_server.run_sync import run_sync
from directory_server.sqlite import Database, SqliteKeyRing, SqliteKeyUses, SqliteTables
from directory_server.tables import StoredAccounts

from ..contract.key_uses import KeyUsesContract
from .conftest import SqliteAdapterTest


class TestSqliteKeyUses(SqliteAdapterTest, KeyUsesContract):
    async def adapters(self, now: Callable[[], float]) -> tuple[SqliteKeyUses, SqliteKeyRing, StoredAccounts]:
        database = self.open_database("directory")
        return SqliteKeyUses(database), SqliteKeyRing(database, now), StoredAccounts(SqliteTables(database), now)


def test_forgetting_nothing_writes_nothing(directory_database: Database) -> None:
    uses, keys = SqliteKeyUses(directory_database), SqliteKeyRing(directory_database, lambda: 1_000_000.0)
    key, _ = run_sync(keys.create("laptop", limit=20, expires_at=None))
    run_sync(uses.record([KeyUse(key.id, 10.0, Client())]))
    with directory_database.connection() as connection:
        begun: list[str] = []
        connection.set_trace_callback(begun.append)
        run_sync(uses.forget(9.0))
        assert not any(statement.startswith("BEGIN") for statement in begun)
        run_sync(uses.forget(10.0))
        assert any(statement.startswith("BEGIN") for statement in begun)


def test_the_rows_of_deleted_keys_are_deleted_later(directory_database: Database) -> None:
    times = [1_000_000.0]
    accounts = StoredAccounts(SqliteTables(directory_database), lambda: times[0])
    keys = SqliteKeyRing(directory_database, lambda: times[0])

    def deleted() -> int:
        ann = run_sync(accounts.add("ann@example.org"))
        run_sync(keys.create("laptop", limit=20, expires_at=None, owner=ann.id))
        run_sync(accounts.delete(ann.id))
        with directory_database.connection() as connection:
            rows = connection.execute("SELECT label, owner FROM api_key WHERE id NOT IN (SELECT key_id FROM secret)")
            found = rows.fetchall()
        assert set(found) == {("", None)}
        return len(found)

    revoked, _ = run_sync(keys.create("revoked by the operator", limit=20, expires_at=None))
    run_sync(keys.revoke(revoked.id))
    assert (deleted(), deleted()) == (1, 2)
    times[0] += 3600
    assert deleted() == 1
    assert [key.id for key in run_sync(keys.list())] == [revoked.id]

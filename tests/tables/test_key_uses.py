"""StoredKeyUses."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from twisted.internet.task import Clock

from directory_server.domain.keys import Client, KeyUse
from directory_server.run_sync import run_sync
from directory_server.sqlite import Database, SqliteTables
from directory_server.tables import StoredAccounts, StoredKeyRing, StoredKeyUses, Tables

from ..contract.key_uses import KeyUsesContract
from ..sqlite.conftest import run_concurrently
from .conftest import OpenTables, TablesTest, number, rows_of

TOGETHER, ROUNDS = 6, 10


class TestKeyUses(TablesTest, KeyUsesContract):
    async def adapters(self, now: Callable[[], float]) -> tuple[StoredKeyUses, StoredKeyRing, StoredAccounts]:
        tables = self.open_tables()
        return StoredKeyUses(tables), StoredKeyRing(tables, now), StoredAccounts(tables, now)


def test_processes_record_together_while_accounts_are_deleted(open_tables: OpenTables, clock: Clock) -> None:
    processes = [open_tables() for _ in range(TOGETHER)]
    accounts, keys = StoredAccounts(processes[0], clock.seconds), StoredKeyRing(processes[0], clock.seconds)
    recorders = [StoredKeyUses(tables) for tables in processes]
    for _ in range(ROUNDS):
        ann = run_sync(accounts.add("ann@example.org"))
        ids = [run_sync(keys.create("k", limit=20, expires_at=None, owner=ann.id))[0].id for _ in range(8)]

        def run(number: int, owner: str, uses: list[KeyUse]) -> None:
            if number == 0:
                run_sync(accounts.delete(owner))
            else:
                run_sync(recorders[number].record(uses[:: 1 if number % 2 else -1]))

        uses = [KeyUse(key_id, 1_000.0, Client()) for key_id in ids]
        run_concurrently(partial(run, owner=ann.id, uses=uses), TOGETHER)
        assert run_sync(keys.live(ids)) == set()
    assert number(processes[0], "SELECT count(*) FROM key_use") == 0


def test_forgetting_nothing_writes_nothing_on_sqlite(directory_database: Database) -> None:
    tables = SqliteTables(directory_database)
    uses, keys = StoredKeyUses(tables), StoredKeyRing(tables, lambda: 1_000_000.0)
    key, _ = run_sync(keys.create("laptop", limit=20, expires_at=None))
    run_sync(uses.record([KeyUse(key.id, 10.0, Client())]))
    with directory_database.connection() as connection:
        begun: list[str] = []
        connection.set_trace_callback(begun.append)
        run_sync(uses.forget(9.0))
        assert not any(statement.startswith("BEGIN") for statement in begun)
        run_sync(uses.forget(10.0))
        assert any(statement.startswith("BEGIN") for statement in begun)


def test_the_rows_of_deleted_keys_are_deleted_later(tables: Tables, clock: Clock) -> None:
    accounts, keys = StoredAccounts(tables, clock.seconds), StoredKeyRing(tables, clock.seconds)

    def deleted() -> int:
        ann = run_sync(accounts.add("ann@example.org"))
        run_sync(keys.create("laptop", limit=20, expires_at=None, owner=ann.id))
        run_sync(accounts.delete(ann.id))
        kept = rows_of(tables, "SELECT label, owner FROM api_key WHERE id NOT IN (SELECT key_id FROM secret)")
        assert set(kept) == {("", None)}
        return len(kept)

    revoked, _ = run_sync(keys.create("revoked by the operator", limit=20, expires_at=None))
    run_sync(keys.revoke(revoked.id))
    assert (deleted(), deleted()) == (1, 2)
    clock.advance(3600)
    assert deleted() == 1
    assert [key.id for key in run_sync(keys.list())] == [revoked.id]

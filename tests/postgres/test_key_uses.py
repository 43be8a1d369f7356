"""PostgreSQL adapter of KeyUses."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from twisted.internet.task import Clock

from directory_server.domain.clients import Client
from directory_server.domain.keys import KeyUse
from directory_server.postgres import PostgresKeyRing, PostgresKeyUses, PostgresTables
from directory_server.run_sync import run_sync
from directory_server.tables import StoredAccounts

from ..contract.key_uses import KeyUsesContract
from ..sqlite.conftest import run_concurrently
from .conftest import Open, PostgresAdapterTest

TOGETHER, ROUNDS = 6, 10


class TestPostgresKeyUses(PostgresAdapterTest, KeyUsesContract):
    async def adapters(self, now: Callable[[], float]) -> tuple[PostgresKeyUses, PostgresKeyRing, StoredAccounts]:
        database = self.open_database()
        return PostgresKeyUses(database), PostgresKeyRing(database, now), StoredAccounts(PostgresTables(database), now)


def test_processes_record_together_while_accounts_are_deleted(open_database: Open) -> None:
    clock = Clock()
    clock.advance(1_000_000)
    databases = [open_database() for _ in range(TOGETHER)]
    accounts, keys = (
        StoredAccounts(PostgresTables(databases[0]), clock.seconds),
        PostgresKeyRing(databases[0], clock.seconds),
    )
    recorders = [PostgresKeyUses(each) for each in databases]
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
    stored = run_sync(databases[0].read(lambda cursor: cursor.one("SELECT count(*) FROM key_use")))
    assert stored == (0,)

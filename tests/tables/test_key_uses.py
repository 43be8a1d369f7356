"""StoredKeyUses."""

from __future__ import annotations

from functools import partial

from twisted.internet.task import Clock

from directory_server.domain.keys import Client, KeyUse
from directory_server.runtime.run_sync import run_sync
from directory_server.sqlite import Database, SqliteTables
from directory_server.tables import StoredAccounts, StoredKeyRing, StoredKeyUses, Tables

from ..contract import ContractWithClock, awaited
from ..sqlite.conftest import run_concurrently
from .conftest import OpenTables, TablesTest, number, rows_of

CURL = Client("192.0.2.0/24", "curl")


class TestKeyUses(TablesTest, ContractWithClock):
    async def open(self) -> tuple[StoredKeyUses, StoredKeyRing, StoredAccounts]:
        """Return all three of one process."""
        tables, now = self.open_tables(), self.clock.seconds
        return StoredKeyUses(tables), StoredKeyRing(tables, now), StoredAccounts(tables, now)

    @awaited
    async def test_returns_the_last_use_of_each_key_of_an_account(self) -> None:
        uses, keys, accounts = await self.open()
        other, _, _ = await self.open()
        owners = [await accounts.add(f"{name}@example.org") for name in ("ann", "bob")]
        ids = [
            (await keys.create("key", limit=20, expires_at=None, owner=owner))[0].id
            for owner in (owners[0].id, owners[0].id, owners[1].id, None)
        ]
        assert await uses.list(owners[0].id) == {}
        recorded = [KeyUse(key_id, 1_000.0 + number, CURL) for number, key_id in enumerate(ids)]
        await uses.record(recorded[::-1])
        assert await other.list(owners[0].id) == {use.key_id: use for use in recorded[:2]}
        assert await other.list(owners[1].id) == {recorded[2].key_id: recorded[2]}
        assert await other.of([use.key_id for use in recorded]) == {use.key_id: use for use in recorded}
        assert await other.of([ids[0], ids[3], "nosuchid", "\0"]) == {ids[0]: recorded[0], ids[3]: recorded[3]}
        assert await other.of([]) == {}
        assert await other.list("nosuchid") == await other.list("\0") == {}

    @awaited
    async def test_keeps_the_latest_use(self) -> None:
        uses, keys, accounts = await self.open()
        ann = await accounts.add("ann@example.org")
        key, _ = await keys.create("key", limit=20, expires_at=None, owner=ann.id)
        latest = KeyUse(key.id, 2_000.0, Client("2001:db8:1::/48", "Claude Code"))
        for use in (KeyUse(key.id, 1_000.0, CURL), latest, KeyUse(key.id, 1_500.0, CURL)):
            await uses.record([use])
        assert await uses.list(ann.id) == {key.id: latest}

    @awaited
    async def test_ignores_unknown_and_revoked_keys(self) -> None:
        uses, keys, accounts = await self.open()
        ann = await accounts.add("ann@example.org")
        key, _ = await keys.create("key", limit=20, expires_at=None, owner=ann.id)
        revoked, _ = await keys.create("revoked", limit=20, expires_at=None, owner=ann.id)
        await keys.revoke(revoked.id)
        use = KeyUse(key.id, 1_000.0, CURL)
        await uses.record([KeyUse(revoked.id, 1_000.0, CURL)])
        await uses.record([])
        await uses.record([KeyUse("nosuchid", 1_000.0, CURL), use, KeyUse("\0", 1_000.0, CURL)])
        assert await uses.list(ann.id) == {key.id: use}

    @awaited
    async def test_forgets_old_uses(self) -> None:
        uses, keys, accounts = await self.open()
        ann = await accounts.add("ann@example.org")
        ids = [(await keys.create("key", limit=20, expires_at=None, owner=ann.id))[0].id for _ in range(3)]
        await uses.record([KeyUse(key_id, float(number), CURL) for number, key_id in enumerate(ids)])
        await uses.forget(1.0)
        assert set(await uses.list(ann.id)) == {ids[2]}
        await uses.forget(1.0)

    @awaited
    async def test_uses_are_deleted_with_the_account(self) -> None:
        uses, keys, accounts = await self.open()
        ann = await accounts.add("ann@example.org")
        bob = await accounts.register("bob@example.org", "hash", most=9)
        for owner in (ann, bob):
            key, _ = await keys.create("key", limit=20, expires_at=None, owner=owner.id)
            await uses.record([KeyUse(key.id, 1_000.0, CURL)])
        await accounts.delete(ann.id)
        assert await accounts.remove(bob.id, before=self.clock.seconds())
        assert await uses.list(ann.id) == await uses.list(bob.id) == {}
        await uses.record([KeyUse(key.id, 2_000.0, CURL)])


TOGETHER, ROUNDS = 6, 10


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

"""StoredNewSecrets."""

from __future__ import annotations

from directory_server.domain.keys import NewSecret
from directory_server.runtime.run_sync import run_sync
from directory_server.tables import StoredKeyRing, StoredNewSecrets, Tables

from ..contract import ContractWithClock, awaited
from ..sqlite.conftest import run_concurrently
from .conftest import OpenTables, TablesTest, number, rows_of

CREATED = NewSecret("mcpd_created", rotated=False)


ROTATED = NewSecret("mcpd_rotated", rotated=True)


class TestNewSecrets(TablesTest, ContractWithClock):
    async def open(self) -> tuple[StoredNewSecrets, str]:
        """Return the new secrets of a process, and the id of a key."""
        tables = self.open_tables()
        key, _ = await StoredKeyRing(tables, self.clock.seconds).create("laptop", limit=20, expires_at=None)
        return StoredNewSecrets(tables, self.clock.seconds), key.id

    @awaited
    async def test_returns_a_secret_once_in_any_process(self) -> None:
        secrets, key = await self.open()
        other, _ = await self.open()
        await secrets.put("session", key, CREATED)
        assert await other.take("session", key) == CREATED
        assert await secrets.take("session", key) is None
        assert await other.take("session", key) is None

    @awaited
    async def test_returns_a_secret_to_its_session_only(self) -> None:
        secrets, key = await self.open()
        await secrets.put("session", key, CREATED)
        for session in ("", "Session", "another session", "\udc80"):
            assert await secrets.take(session, key) is None
        assert await secrets.take("session", "nosuchid") is None
        assert await secrets.take("session", key) == CREATED

    @awaited
    async def test_keeps_the_latest_secret_of_a_key(self) -> None:
        secrets, key = await self.open()
        await secrets.put("session", key, CREATED)
        await secrets.put("session", key, ROTATED)
        assert await secrets.take("session", key) == ROTATED
        assert await secrets.take("session", key) is None

    @awaited
    async def test_keeps_the_secrets_of_sessions_apart(self) -> None:
        secrets, key = await self.open()
        await secrets.put("one", key, CREATED)
        await secrets.put("two", key, ROTATED)
        assert await secrets.take("one", key) == CREATED
        assert await secrets.take("two", key) == ROTATED

    @awaited
    async def test_a_secret_expires_after_five_minutes(self) -> None:
        secrets, key = await self.open()
        await secrets.put("session", key, CREATED)
        self.clock.advance(299)
        await secrets.put("another", key, ROTATED)
        self.clock.advance(1)
        assert await secrets.take("session", key) is None
        assert await secrets.take("another", key) == ROTATED


TOGETHER = 6


def now() -> float:
    return 1_000_000.0


def put_secret(tables: Tables) -> tuple[str, str]:
    """Create a key and store its new secret; return the id of the key and the secret."""
    key, secret = run_sync(StoredKeyRing(tables, now).create("laptop", limit=20, expires_at=None))
    run_sync(StoredNewSecrets(tables, now).put("the session", key.id, NewSecret(secret, rotated=False)))
    return key.id, secret


def test_stores_neither_the_secret_nor_the_session(tables: Tables) -> None:
    key_id, secret = put_secret(tables)
    stored = str(rows_of(tables, "SELECT * FROM new_secret"))
    assert key_id in stored
    assert secret[:-4] not in stored
    assert "the session" not in stored


def test_returns_no_secret_from_an_altered_row(tables: Tables) -> None:
    put_secret(tables)
    other, _ = run_sync(StoredKeyRing(tables, now).create("phone", limit=20, expires_at=None))
    run_sync(tables.write(lambda rows: rows.execute("UPDATE new_secret SET key_id = :id", id=other.id)))
    assert run_sync(StoredNewSecrets(tables, now).take("the session", other.id)) is None
    key_id, _ = put_secret(tables)
    run_sync(tables.write(lambda rows: rows.execute("UPDATE new_secret SET salt = sealed")))
    assert run_sync(StoredNewSecrets(tables, now).take("the session", key_id)) is None


def test_deletes_expired_rows_with_the_next_write(tables: Tables) -> None:
    put_secret(tables)
    key, _ = run_sync(StoredKeyRing(tables, now).create("phone", limit=20, expires_at=None))
    later = StoredNewSecrets(tables, lambda: now() + 300)
    run_sync(later.put("another session", key.id, NewSecret("mcpd_x", rotated=True)))
    assert number(tables, "SELECT count(*) FROM new_secret") == 1


def test_one_of_several_concurrent_callers_gets_the_secret(open_tables: OpenTables) -> None:
    processes = [StoredNewSecrets(open_tables(), now) for _ in range(TOGETHER)]
    key_id, secret = put_secret(open_tables())
    taken: list[NewSecret | None] = []
    run_concurrently(lambda number: taken.append(run_sync(processes[number].take("the session", key_id))), TOGETHER)
    assert taken.count(None) == TOGETHER - 1
    assert NewSecret(secret, rotated=False) in taken

"""StoredNewSecrets."""

from __future__ import annotations

from collections.abc import Callable

from directory_server.domain.keys import NewSecret
from directory_server.run_sync import run_sync
from directory_server.tables import StoredKeyRing, StoredNewSecrets, Tables

from ..contract.new_secrets import NewSecretsContract
from ..sqlite.conftest import run_concurrently
from .conftest import OpenTables, TablesTest, number, rows_of

TOGETHER = 6


def now() -> float:
    return 1_000_000.0


class TestNewSecrets(TablesTest, NewSecretsContract):
    async def secrets_and_keys(self, now: Callable[[], float]) -> tuple[StoredNewSecrets, StoredKeyRing]:
        tables = self.open_tables()
        return StoredNewSecrets(tables, now), StoredKeyRing(tables, now)


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

"""SQLite adapter of NewSecrets."""

from __future__ import annotations

from collections.abc import Callable

from directory_server.domain.keys import NewSecret
from directory_server.run_sync import run_sync
from directory_server.sqlite import Database, SqliteKeyRing, SqliteNewSecrets

from ..contract.new_secrets import NewSecretsContract
from .conftest import SqliteAdapterTest, run_concurrently, stored_bytes


class TestSqliteNewSecrets(SqliteAdapterTest, NewSecretsContract):
    async def secrets_and_keys(self, now: Callable[[], float]) -> tuple[SqliteNewSecrets, SqliteKeyRing]:
        database = self.open_database("directory")
        return SqliteNewSecrets(database, now), SqliteKeyRing(database, now)


def put_secret(directory_database: Database) -> tuple[SqliteNewSecrets, str, str]:
    """Create a key and store its new secret; return the adapter, the id of the key and the secret."""
    secrets = SqliteNewSecrets(directory_database, lambda: 1_000_000.0)
    key, secret = run_sync(
        SqliteKeyRing(directory_database, lambda: 1_000_000.0).create("laptop", limit=20, expires_at=None)
    )
    run_sync(secrets.put("the session", key.id, NewSecret(secret, rotated=False)))
    return secrets, key.id, secret


def test_stores_neither_the_secret_nor_the_session(directory_database: Database) -> None:
    _, _, secret = put_secret(directory_database)
    directory_database.close()
    stored = stored_bytes(directory_database)
    assert b"laptop" in stored
    assert secret[:-4].encode() not in stored
    assert b"the session" not in stored


def test_returns_no_secret_from_an_altered_row(directory_database: Database) -> None:
    secrets, key, _ = put_secret(directory_database)
    other, _ = run_sync(
        SqliteKeyRing(directory_database, lambda: 1_000_000.0).create("phone", limit=20, expires_at=None)
    )
    with directory_database.connection() as connection:
        connection.execute("UPDATE new_secret SET key_id = ?", (other.id,))
    assert run_sync(secrets.take("the session", other.id)) is None
    secrets, key, _ = put_secret(directory_database)
    with directory_database.connection() as connection:
        connection.execute("UPDATE new_secret SET salt = zeroblob(16)")
    assert run_sync(secrets.take("the session", key)) is None


def test_deletes_expired_rows_with_the_next_write(directory_database: Database) -> None:
    put_secret(directory_database)
    later = SqliteNewSecrets(directory_database, lambda: 1_000_300.0)
    key, _ = run_sync(SqliteKeyRing(directory_database, lambda: 1_000_000.0).create("phone", limit=20, expires_at=None))
    run_sync(later.put("another session", key.id, NewSecret("mcpd_x", rotated=True)))
    with directory_database.connection() as connection:
        assert connection.execute("SELECT count(*) FROM new_secret").fetchone() == (1,)


def test_one_of_several_concurrent_callers_gets_the_secret(directory_database: Database) -> None:
    new = SqliteNewSecrets(directory_database, lambda: 1_000_000.0)
    key, secret = run_sync(
        SqliteKeyRing(directory_database, lambda: 1_000_000.0).create("laptop", limit=20, expires_at=None)
    )
    run_sync(new.put("session", key.id, NewSecret(secret, rotated=False)))
    taken: list[NewSecret | None] = []

    def take(number: int) -> None:
        taken.append(run_sync(new.take("session", key.id)))

    run_concurrently(take)
    assert sorted(taken, key=bool) == [None] * 7 + [NewSecret(secret, rotated=False)]

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from directory_server.domain.keys import NewSecret
from directory_server.run_sync import run_sync
from directory_server.sqlite import Database, SqliteKeyRing, SqliteNewSecrets

from ..contract.new_secrets import NewSecretsContract
from .conftest import Open


class TestSqliteNewSecrets(NewSecretsContract):
    @pytest.fixture(autouse=True)
    def _databases(self, open_database: Open) -> None:
        self._open = open_database

    async def both(self, now: Callable[[], float]) -> tuple[SqliteNewSecrets, SqliteKeyRing]:
        database = self._open("directory")
        return SqliteNewSecrets(database, now), SqliteKeyRing(database, now)


@pytest.fixture
def database(open_database: Open) -> Database:
    return open_database("directory")


def put(database: Database) -> tuple[SqliteNewSecrets, str, str]:
    """Keep a key's new secret; return what keeps it, the id of the key and the secret."""
    secrets = SqliteNewSecrets(database, lambda: 1_000_000.0)
    key, secret = run_sync(SqliteKeyRing(database, lambda: 1_000_000.0).create("laptop", limit=20, expires_at=None))
    run_sync(secrets.put("the session", key.id, NewSecret(secret, rotated=False)))
    return secrets, key.id, secret


def test_writes_neither_the_secret_nor_the_session(database: Database) -> None:
    _, _, secret = put(database)
    database.close()
    kept = b"".join(file.read_bytes() for file in database.path.parent.glob("directory.db*"))
    assert b"laptop" in kept
    assert secret[:-4].encode() not in kept
    assert b"the session" not in kept


def test_does_not_open_a_row_that_was_altered_or_moved_to_another_key(database: Database) -> None:
    secrets, key, _ = put(database)
    other, _ = run_sync(SqliteKeyRing(database, lambda: 1_000_000.0).create("phone", limit=20, expires_at=None))
    with database.connection() as connection:
        connection.execute("UPDATE new_secret SET key_id = ?", (other.id,))
    assert run_sync(secrets.take("the session", other.id)) is None
    secrets, key, _ = put(database)
    with database.connection() as connection:
        connection.execute("UPDATE new_secret SET salt = zeroblob(16)")
    assert run_sync(secrets.take("the session", key)) is None


def test_deletes_expired_rows_with_the_next_write(database: Database) -> None:
    put(database)
    later = SqliteNewSecrets(database, lambda: 1_000_300.0)
    key, _ = run_sync(SqliteKeyRing(database, lambda: 1_000_000.0).create("phone", limit=20, expires_at=None))
    run_sync(later.put("another session", key.id, NewSecret("mcpd_x", rotated=True)))
    with database.connection() as connection:
        assert connection.execute("SELECT count(*) FROM new_secret").fetchone() == (1,)


def test_one_of_many_that_take_a_new_secret_at_once_gets_it(database: Database) -> None:
    new = SqliteNewSecrets(database, lambda: 1_000_000.0)
    key, secret = run_sync(SqliteKeyRing(database, lambda: 1_000_000.0).create("laptop", limit=20, expires_at=None))
    run_sync(new.put("session", key.id, NewSecret(secret, rotated=False)))
    begin = threading.Barrier(8)
    taken: list[NewSecret | None] = []

    def take() -> None:
        begin.wait()
        taken.append(run_sync(new.take("session", key.id)))

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken, key=bool) == [None] * 7 + [NewSecret(secret, rotated=False)]

"""PostgreSQL adapter of NewSecrets."""

from __future__ import annotations

from collections.abc import Callable

from directory_server.domain.keys import NewSecret
from directory_server.postgres import Database, PostgresKeyRing, PostgresNewSecrets
from directory_server.run_sync import run_sync

from ..contract.new_secrets import NewSecretsContract
from ..sqlite.conftest import run_concurrently
from .conftest import Open, PostgresAdapterTest

TOGETHER = 6


def now() -> float:
    return 1_000_000.0


class TestPostgresNewSecrets(PostgresAdapterTest, NewSecretsContract):
    async def secrets_and_keys(self, now: Callable[[], float]) -> tuple[PostgresNewSecrets, PostgresKeyRing]:
        database = self.open_database()
        return PostgresNewSecrets(database, now), PostgresKeyRing(database, now)


def put_secret(database: Database) -> tuple[str, str]:
    """Create a key and store its new secret; return the id of the key and the secret."""
    key, secret = run_sync(PostgresKeyRing(database, now).create("laptop", limit=20, expires_at=None))
    run_sync(PostgresNewSecrets(database, now).put("the session", key.id, NewSecret(secret, rotated=False)))
    return key.id, secret


def test_stores_neither_the_secret_nor_the_session(database: Database) -> None:
    key_id, secret = put_secret(database)
    stored = str(run_sync(database.read(lambda cursor: cursor.all("SELECT * FROM new_secret"))))
    assert key_id in stored
    assert secret[:-4] not in stored
    assert "the session" not in stored


def test_returns_no_secret_from_an_altered_row(database: Database) -> None:
    key_id, _ = put_secret(database)
    run_sync(database.write(lambda cursor: cursor.execute("UPDATE new_secret SET salt = '\\x00'")))
    assert run_sync(PostgresNewSecrets(database, now).take("the session", key_id)) is None


def test_deletes_expired_rows_with_the_next_write(database: Database) -> None:
    put_secret(database)
    key, _ = run_sync(PostgresKeyRing(database, now).create("phone", limit=20, expires_at=None))
    later = PostgresNewSecrets(database, lambda: now() + 300)
    run_sync(later.put("another session", key.id, NewSecret("mcpd_x", rotated=True)))
    assert run_sync(database.read(lambda cursor: cursor.one("SELECT count(*) FROM new_secret"))) == (1,)


def test_one_of_several_concurrent_callers_gets_the_secret(open_database: Open) -> None:
    processes = [PostgresNewSecrets(open_database(), now) for _ in range(TOGETHER)]
    key_id, secret = put_secret(open_database())
    taken: list[NewSecret | None] = []
    run_concurrently(lambda number: taken.append(run_sync(processes[number].take("the session", key_id))), TOGETHER)
    assert taken.count(None) == TOGETHER - 1
    assert NewSecret(secret, rotated=False) in taken


def test_an_id_that_no_database_can_hold_has_no_secret(database: Database) -> None:
    for key_id in ("a\0b", "\udc80"):
        assert run_sync(PostgresNewSecrets(database, now).take("the session", key_id)) is None

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from directory_server.domain.errors import Unavailable
from directory_server.run_sync import run_sync
from directory_server.sqlite import Database, SqliteAccounts, SqliteKeyRing, _keyring

from ..contract.keyring import KeyRingContract
from .conftest import Open


class TestSqliteKeyRing(KeyRingContract):
    @pytest.fixture(autouse=True)
    def _databases(self, open_database: Open) -> None:
        self._open = open_database

    async def keys(self, now: Callable[[], float]) -> SqliteKeyRing:
        return SqliteKeyRing(self._open("directory"), now)

    async def accounts(self, now: Callable[[], float]) -> SqliteAccounts:
        return SqliteAccounts(self._open("directory"), now)


@pytest.fixture
def database(open_database: Open) -> Database:
    return open_database("directory")


@pytest.fixture
def keys(database: Database) -> SqliteKeyRing:
    return SqliteKeyRing(database, lambda: 1_000_000.0)


def test_secrets_and_ids_have_their_formats(keys: SqliteKeyRing) -> None:
    key, secret = run_sync(keys.create("laptop", limit=20, expires_at=None))
    assert re.fullmatch(r"mcpd_[0-9A-Za-z]{38}", secret)
    assert re.fullmatch(r"[2-9a-km-z]{8}", key.id)


def test_rejects_a_mistyped_secret_without_the_database(database: Database, keys: SqliteKeyRing) -> None:
    _, secret = run_sync(keys.create("laptop", limit=20, expires_at=None))
    database.close()
    with pytest.raises(Unavailable):
        run_sync(keys.find(secret))
    for place in range(5, len(secret)):
        mistyped = secret[:place] + ("x" if secret[place] != "x" else "y") + secret[place + 1 :]
        assert run_sync(keys.find(mistyped)) is None


def test_caches_a_lookup_until_a_write(
    database: Database, keys: SqliteKeyRing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_keyring, "CACHED", 2)
    looked: list[str] = []
    made = [run_sync(keys.create("laptop", limit=20, expires_at=None)) for _ in range(4)]
    with database.connection() as connection:
        connection.set_trace_callback(lambda statement: looked.append(statement) if "digest" in statement else None)
    for _ in range(3):
        for key, secret in made[:2]:
            assert run_sync(keys.find(secret)) == key
    assert len(looked) == 2
    run_sync(keys.revoke(made[0][0].id))
    assert run_sync(keys.find(made[0][1])) is None
    assert run_sync(keys.find(made[1][1])) == made[1][0]
    assert len(looked) == 4
    for key, secret in made[1:]:
        assert run_sync(keys.find(secret)) == key
    assert run_sync(keys.find(made[1][1])) == made[1][0]
    assert len(looked) == 7


def test_stores_no_secret(database: Database, keys: SqliteKeyRing) -> None:
    _, secret = run_sync(keys.create("laptop", limit=20, expires_at=None))
    database.close()
    kept = b"".join(file.read_bytes() for file in database.path.parent.glob("directory.db*"))
    assert b"laptop" in kept
    assert secret[:-4].encode() not in kept
    assert secret[5:20].encode() not in kept

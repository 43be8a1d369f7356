"""StoredKeyRing without a cache, as in commands."""

from __future__ import annotations

from typing import Any

import pytest

from directory_server.domain.errors import TooManyKeys, Unavailable
from directory_server.runtime.run_sync import run_sync
from directory_server.tables import StoredAccounts, StoredKeyRing, Tables

from ..sqlite.conftest import run_concurrently
from .conftest import OpenTables, rows_of


def now() -> float:
    return 1_000_000.0


@pytest.fixture
def keys(tables: Tables) -> StoredKeyRing:
    return StoredKeyRing(tables, now)


def test_rejects_a_mistyped_secret_without_the_database(tables: Any, keys: StoredKeyRing) -> None:
    _, secret = run_sync(keys.create("laptop", limit=20, expires_at=None))
    tables.database.close()
    with pytest.raises(Unavailable):
        run_sync(keys.find(secret))
    for index in range(5, len(secret)):
        mistyped = secret[:index] + ("x" if secret[index] != "x" else "y") + secret[index + 1 :]
        assert run_sync(keys.find(mistyped)) is None


def test_processes_that_create_keys_together_keep_the_limit(open_tables: OpenTables) -> None:
    ann = run_sync(StoredAccounts(open_tables(), now).add("ann@example.org"))
    outcomes: list[bool] = []
    rings = [StoredKeyRing(open_tables(), now) for _ in range(6)]

    def create(number: int) -> None:
        for _ in range(3):
            try:
                run_sync(rings[number].create("laptop", limit=1, expires_at=None, owner=ann.id, most=7))
            except TooManyKeys:
                outcomes.append(False)
            else:
                outcomes.append(True)

    run_concurrently(create, 6)
    assert outcomes.count(True) == 7
    assert len(run_sync(rings[0].list(ann.id))) == 7


def test_stores_no_secret(tables: Tables, keys: StoredKeyRing) -> None:
    _, secret = run_sync(keys.create("laptop", limit=20, expires_at=None))
    stored = str([rows_of(tables, f"SELECT * FROM {table}") for table in ("api_key", "secret")])
    assert "laptop" in stored
    assert secret[:-4] not in stored
    assert secret[5:20] not in stored

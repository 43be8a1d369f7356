"""StoredKeyRing without a cache, as in commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from directory_server.domain.errors import NotFound, TooManyKeys, Unavailable
from directory_server.run_sync import run_sync
from directory_server.tables import StoredAccounts, StoredIdentities, StoredKeyRing, Tables

from ..contract.identities import IdentitiesContract
from ..contract.keyring import KeyRingContract
from ..contract.owned_keys import OwnedKeysContract
from ..sqlite.conftest import run_concurrently
from .conftest import OpenTables, TablesTest, rows_of


def now() -> float:
    return 1_000_000.0


class TestKeyRing(TablesTest, KeyRingContract, OwnedKeysContract, IdentitiesContract):
    async def keys(self, now: Callable[[], float]) -> StoredKeyRing:
        return StoredKeyRing(self.open_tables(), now)

    async def accounts(self, now: Callable[[], float]) -> StoredAccounts:
        return StoredAccounts(self.open_tables(), now)

    async def identities(self, now: Callable[[], float]) -> StoredIdentities:
        return StoredIdentities(self.open_tables(), now)


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


@pytest.mark.parametrize("text", ["a\x00b", "\ud800"])
def test_text_that_no_database_can_hold_is_not_found(keys: StoredKeyRing, text: str) -> None:
    assert run_sync(keys.find(text)) is None
    assert run_sync(keys.live([text])) == set()
    assert list(run_sync(keys.list(text))) == []
    with pytest.raises(NotFound):
        run_sync(keys.revoke(text))
    with pytest.raises(NotFound):
        run_sync(keys.rotate(text, grace=0))


def test_stores_no_secret(tables: Tables, keys: StoredKeyRing) -> None:
    _, secret = run_sync(keys.create("laptop", limit=20, expires_at=None))
    stored = str([rows_of(tables, f"SELECT * FROM {table}") for table in ("api_key", "secret")])
    assert "laptop" in stored
    assert secret[:-4] not in stored
    assert secret[5:20] not in stored

"""StoredRegistryTokens."""

from __future__ import annotations

from collections.abc import Callable

from directory_server.run_sync import run_sync
from directory_server.tables import StoredRegistryTokens, Tables

from ..contract.registry_tokens import RegistryTokensContract
from .conftest import TablesTest, rows_of


class TestRegistryTokens(TablesTest, RegistryTokensContract):
    async def tokens(self, now: Callable[[], float]) -> StoredRegistryTokens:
        return StoredRegistryTokens(self.open_tables(), now)


def test_the_secret_is_not_stored(tables: Tables) -> None:
    _, secret = run_sync(StoredRegistryTokens(tables, lambda: 0.0).create("editors"))
    stored = str(rows_of(tables, "SELECT * FROM registry_token"))
    assert "editors" in stored
    assert secret not in stored

"""StoredRegistryTokens."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from directory_server.domain.errors import NotFound
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


def test_an_id_that_no_database_can_hold_is_not_found(tables: Tables) -> None:
    for token_id in ("a\0b", "\udc80"):
        with pytest.raises(NotFound):
            run_sync(StoredRegistryTokens(tables, lambda: 0.0).revoke(token_id))

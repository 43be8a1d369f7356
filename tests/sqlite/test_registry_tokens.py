from __future__ import annotations

from collections.abc import Callable

import pytest

from directory_server.run_sync import run_sync
from directory_server.sqlite import SqliteRegistryTokens

from ..contract.registry_tokens import RegistryTokensContract
from .conftest import Open


class TestSqliteRegistryTokens(RegistryTokensContract):
    @pytest.fixture(autouse=True)
    def _databases(self, open_database: Open) -> None:
        self._open = open_database

    async def tokens(self, now: Callable[[], float]) -> SqliteRegistryTokens:
        return SqliteRegistryTokens(self._open("directory"), now)


def test_the_secret_is_not_stored(open_database: Open) -> None:
    database = open_database("directory")
    _, secret = run_sync(SqliteRegistryTokens(database, lambda: 0.0).create("editors"))
    with database.connection() as connection:
        assert secret not in "".join(connection.iterdump())

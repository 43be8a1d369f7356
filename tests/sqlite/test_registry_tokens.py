"""SQLite adapter of RegistryTokens."""

from __future__ import annotations

from collections.abc import Callable

from directory_server.run_sync import run_sync
from directory_server.sqlite import SqliteRegistryTokens

from ..conftest import Open
from ..contract.registry_tokens import RegistryTokensContract
from .conftest import SqliteAdapterTest


class TestSqliteRegistryTokens(SqliteAdapterTest, RegistryTokensContract):
    async def tokens(self, now: Callable[[], float]) -> SqliteRegistryTokens:
        return SqliteRegistryTokens(self.open_database("directory"), now)


def test_the_secret_is_not_stored(open_database: Open) -> None:
    database = open_database("directory")
    _, secret = run_sync(SqliteRegistryTokens(database, lambda: 0.0).create("editors"))
    with database.connection() as connection:
        assert secret not in "".join(connection.iterdump())

"""SQLite adapters of PublisherTokens and PublicationLog."""

from __future__ import annotations

from collections.abc import Callable

from directory_server.run_sync import run_sync
from directory_server.sqlite import SqlitePublicationLog, SqlitePublisherTokens

from ..conftest import Open
from ..contract.publishers import PublicationLogContract, PublisherTokensContract
from .conftest import SqliteAdapterTest


class TestSqlitePublisherTokens(SqliteAdapterTest, PublisherTokensContract):
    async def tokens(self, now: Callable[[], float]) -> SqlitePublisherTokens:
        return SqlitePublisherTokens(self.open_database("directory"), now)


class TestSqlitePublicationLog(SqliteAdapterTest, PublicationLogContract):
    async def log(self, size: int) -> SqlitePublicationLog:
        return SqlitePublicationLog(self.open_database("directory"), size=size)


def test_the_secret_is_not_stored(open_database: Open) -> None:
    database = open_database("directory")
    _, secret = run_sync(SqlitePublisherTokens(database, lambda: 0.0).create("ci", ["io.acme/*"], expires_at=None))
    with database.connection() as connection:
        assert secret not in "".join(connection.iterdump())

"""PostgreSQL adapters of PublisherTokens and PublicationLog."""

from __future__ import annotations

from collections.abc import Callable

from directory_server.postgres import Database, PostgresPublicationLog, PostgresPublisherTokens
from directory_server.run_sync import run_sync

from ..contract.publishers import RECORD, SIZE, PublicationLogContract, PublisherTokensContract
from ..sqlite.conftest import run_concurrently
from .conftest import Open, PostgresAdapterTest


class TestPostgresPublisherTokens(PostgresAdapterTest, PublisherTokensContract):
    async def tokens(self, now: Callable[[], float]) -> PostgresPublisherTokens:
        return PostgresPublisherTokens(self.open_database(), now)


class TestPostgresPublicationLog(PostgresAdapterTest, PublicationLogContract):
    async def log(self, size: int) -> PostgresPublicationLog:
        return PostgresPublicationLog(self.open_database(), size)


def test_the_secret_is_not_stored(database: Database) -> None:
    _, secret = run_sync(PostgresPublisherTokens(database, lambda: 0.0).create("ci", ["io.acme/*"], expires_at=None))
    stored = str(run_sync(database.read(lambda cursor: cursor.all("SELECT * FROM publisher_token"))))
    assert "io.acme" in stored
    assert secret not in stored


def test_processes_that_log_together_do_not_block_each_other(open_database: Open) -> None:
    processes = [PostgresPublicationLog(open_database(), SIZE) for _ in range(4)]

    def write(number: int) -> None:
        for _ in range(10):
            run_sync(processes[number].add(RECORD))

    run_concurrently(write, 4)
    assert len(run_sync(processes[0].newest())) >= SIZE

"""StoredPublisherTokens and StoredPublicationLog."""

from __future__ import annotations

from collections.abc import Callable

from directory_server.run_sync import run_sync
from directory_server.tables import StoredPublicationLog, StoredPublisherTokens, Tables

from ..contract.publishers import RECORD, SIZE, PublicationLogContract, PublisherTokensContract
from ..sqlite.conftest import run_concurrently
from .conftest import OpenTables, TablesTest, rows_of


class TestPublisherTokens(TablesTest, PublisherTokensContract):
    async def tokens(self, now: Callable[[], float]) -> StoredPublisherTokens:
        return StoredPublisherTokens(self.open_tables(), now)


class TestPublicationLog(TablesTest, PublicationLogContract):
    async def log(self, size: int) -> StoredPublicationLog:
        return StoredPublicationLog(self.open_tables(), size)


def test_the_secret_is_not_stored(tables: Tables) -> None:
    _, secret = run_sync(StoredPublisherTokens(tables, lambda: 0.0).create("ci", ["io.acme/*"], expires_at=None))
    stored = str(rows_of(tables, "SELECT * FROM publisher_token"))
    assert "io.acme" in stored
    assert secret not in stored


def test_processes_that_log_together_do_not_block_each_other(open_tables: OpenTables) -> None:
    processes = [StoredPublicationLog(open_tables(), SIZE) for _ in range(4)]

    def write(number: int) -> None:
        for _ in range(10):
            run_sync(processes[number].add(RECORD))

    run_concurrently(write, 4)
    assert len(run_sync(processes[0].newest())) >= SIZE

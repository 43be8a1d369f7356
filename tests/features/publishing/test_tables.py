"""Tables of publisher tokens and of the audit log."""

from __future__ import annotations

from collections.abc import Callable

from directory_server.features.publishing.tables import PublicationLog, PublisherTokens
from directory_server.run_sync import run_sync
from directory_server.tables import Tables

from ...sqlite.conftest import run_concurrently
from ...tables.conftest import OpenTables, TablesTest, rows_of
from .contracts import RECORD, SIZE, PublicationLogContract, PublisherTokensContract


class TestPublisherTokens(TablesTest, PublisherTokensContract):
    async def tokens(self, now: Callable[[], float]) -> PublisherTokens:
        return PublisherTokens(self.open_tables(), now)


class TestPublicationLog(TablesTest, PublicationLogContract):
    async def log(self, size: int) -> PublicationLog:
        return PublicationLog(self.open_tables(), size)


def test_the_secret_is_not_stored(tables: Tables) -> None:
    _, secret = run_sync(PublisherTokens(tables, lambda: 0.0).create("ci", ["io.acme/*"], expires_at=None))
    stored = str(rows_of(tables, "SELECT * FROM publisher_token"))
    assert "io.acme" in stored
    assert secret not in stored


def test_processes_that_log_together_do_not_block_each_other(open_tables: OpenTables) -> None:
    processes = [PublicationLog(open_tables(), SIZE) for _ in range(4)]

    def write(number: int) -> None:
        for _ in range(10):
            run_sync(processes[number].add(RECORD))

    run_concurrently(write, 4)
    assert len(run_sync(processes[0].newest())) >= SIZE

"""PostgreSQL adapter of RegistryTokens, and the session secret."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from directory_server.domain.errors import NotFound
from directory_server.postgres import Database, PostgresRegistryTokens, session_secret
from directory_server.run_sync import run_sync

from ..contract.registry_tokens import RegistryTokensContract
from ..sqlite.conftest import run_concurrently
from .conftest import Open, PostgresAdapterTest


class TestPostgresRegistryTokens(PostgresAdapterTest, RegistryTokensContract):
    async def tokens(self, now: Callable[[], float]) -> PostgresRegistryTokens:
        return PostgresRegistryTokens(self.open_database(), now)


def test_the_secret_is_not_stored(database: Database) -> None:
    _, secret = run_sync(PostgresRegistryTokens(database, lambda: 0.0).create("editors"))
    stored = str(run_sync(database.read(lambda cursor: cursor.all("SELECT * FROM registry_token"))))
    assert "editors" in stored
    assert secret not in stored


def test_an_id_that_no_database_can_hold_is_not_found(database: Database) -> None:
    for token_id in ("a\0b", "\udc80"):
        with pytest.raises(NotFound):
            run_sync(PostgresRegistryTokens(database, lambda: 0.0).revoke(token_id))


def test_processes_that_start_together_have_one_session_secret(open_database: Open) -> None:
    processes = [open_database() for _ in range(6)]
    secrets: list[bytes] = []
    run_concurrently(lambda number: secrets.append(run_sync(session_secret(processes[number]))), 6)
    assert len(secrets) == 6
    assert len(set(secrets)) == 1
    assert len(secrets[0]) == 32
    assert run_sync(session_secret(open_database())) == secrets[0]

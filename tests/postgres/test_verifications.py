"""PostgreSQL adapter of Verifications."""

from __future__ import annotations

from directory_server.postgres import PostgresStore, PostgresVerifications
from directory_server.run_sync import inline, run_sync

from ..contract.store import Briefs
from ..contract.verifications import MovedStepContract
from .conftest import PostgresAdapterTest


class TestPostgresVerifications(PostgresAdapterTest, MovedStepContract):
    folder = "postgres/schema"
    rename = """
        UPDATE target SET state = convert_to(
            replace(convert_from(state, 'UTF8'), '"status":"moved"', '"status":"redirects"'), 'UTF8'
        )
    """

    def run(self, script: str) -> None:
        run_sync(self.open_database().write(lambda cursor: cursor.execute(script, binary=False)))

    async def verifications(self) -> PostgresVerifications:
        return PostgresVerifications(self.open_database(), self.clock.seconds)

    async def store(self) -> PostgresStore:
        return PostgresStore(self.open_database(), inline, Briefs())

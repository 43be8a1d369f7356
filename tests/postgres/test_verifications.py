"""PostgreSQL adapter of Verifications."""

from __future__ import annotations

from directory_server.postgres import PostgresStore, PostgresVerifications
from directory_server.run_sync import inline, run_sync

from ..contract.package_texts import PackageTextsContract
from ..contract.store import Briefs
from .conftest import PostgresAdapterTest


class TestPostgresVerifications(PostgresAdapterTest, PackageTextsContract):
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

    async def texts(self) -> int:
        database = self.open_database()
        return await database.read(lambda cursor: int(cursor.one("SELECT count(*) FROM package_texts")[0]))

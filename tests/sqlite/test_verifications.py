"""SQLite adapter of Verifications."""

from __future__ import annotations

from directory_server.run_sync import inline
from directory_server.sqlite import SqliteStore, SqliteVerifications

from ..contract.package_texts import PackageTextsContract
from ..contract.store import Briefs
from .conftest import SqliteAdapterTest


class TestSqliteVerifications(SqliteAdapterTest, PackageTextsContract):
    folder = "sqlite/schema/directory"
    rename = """
        UPDATE target SET state = CAST(replace(CAST(state AS TEXT), '"status":"moved"', '"status":"redirects"') AS BLOB)
    """

    def run(self, script: str) -> None:
        with self.open_database("directory").connection() as connection:
            connection.executescript(script)

    async def verifications(self) -> SqliteVerifications:
        return SqliteVerifications(self.open_database("directory"), self.clock.seconds, inline)

    async def store(self) -> SqliteStore:
        return SqliteStore(self.open_database("directory"), inline, Briefs())

    async def texts(self) -> int:
        with self.open_database("directory").connection() as connection:
            return int(connection.execute("SELECT count(*) FROM package_texts").fetchone()[0])

"""SQLite adapters: entries imported from files."""

from __future__ import annotations

from collections.abc import Sequence

from directory_server.run_sync import inline
from directory_server.sqlite import SqliteCuration, SqliteStore

from ..contract.imports import ImportedStepContract
from ..contract.store import Briefs
from .conftest import SqliteAdapterTest

NAMES = (("visible_id", "shown"), ("preferred_id", "chosen"))

TOTALS = """
    SELECT source, names, bytes FROM stored WHERE names
    UNION ALL SELECT source, count(DISTINCT name), sum(length(body)) FROM record GROUP BY source
    ORDER BY source
"""


class TestSqliteImports(SqliteAdapterTest, ImportedStepContract):
    package = "sqlite/schema/directory"

    async def store(self, sources: Sequence[str] = ()) -> SqliteStore:
        return SqliteStore(self.open_database("directory"), inline, Briefs(), sources)

    async def curation(self) -> SqliteCuration:
        return SqliteCuration(self.open_database("directory"), ["up"])

    def run(self, script: str) -> None:
        """Run a script with the names that columns had at its step."""
        with self.open_database("directory").connection() as connection:
            for name, earlier in NAMES:
                connection.execute(f"ALTER TABLE entry RENAME COLUMN {name} TO {earlier}")
            connection.executescript(script)
            for name, earlier in NAMES:
                connection.execute(f"ALTER TABLE entry RENAME COLUMN {earlier} TO {name}")

    def totals(self) -> Sequence[tuple[str, int, int]]:
        with self.open_database("directory").connection() as connection:
            return connection.execute(TOTALS).fetchall()

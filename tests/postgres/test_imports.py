"""PostgreSQL adapters: entries imported from files."""

from __future__ import annotations

from collections.abc import Sequence

from directory_server.postgres import PostgresCuration, PostgresStore
from directory_server.run_sync import inline, run_sync

from ..contract.imports import ImportedStepContract
from ..contract.store import Briefs
from .conftest import PostgresAdapterTest

TOTALS = """
    SELECT source, names, bytes FROM stored WHERE names > 0
    UNION ALL SELECT source, count(DISTINCT name), sum(octet_length(body)) FROM record GROUP BY source
    ORDER BY source
"""


class TestPostgresImports(PostgresAdapterTest, ImportedStepContract):
    package = "postgres/schema"

    async def store(self, sources: Sequence[str] = ()) -> PostgresStore:
        return PostgresStore(self.open_database(), inline, Briefs(), sources)

    async def curation(self) -> PostgresCuration:
        return PostgresCuration(self.open_database(), ["up"])

    def run(self, script: str) -> None:
        run_sync(self.open_database().write(lambda cursor: cursor.execute(script, binary=False)))

    def totals(self) -> Sequence[tuple[str, int, int]]:
        return run_sync(self.open_database().read(lambda cursor: cursor.all(TOTALS)))

"""Tables on SQLite, in the temporary folder of a test, and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from twisted.internet.task import Clock

from directory_server.postgres import Database as PostgresDatabase
from directory_server.postgres import PostgresTables, postgres_store
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.sqlite import Database as SqliteDatabase
from directory_server.sqlite import SqliteTables, sqlite_store
from directory_server.tables import StoredCuration, StoredEntries, Tables

from .. import engines
from ..contract.store import Briefs

OpenTables = Callable[[], Tables]


@pytest.fixture(scope="session")
def migrated_engine() -> engines.Engine:
    """Return the shared server, with the schema of this version."""
    engine = engines.shared_engine()
    with closing(PostgresDatabase(engine.conninfo)) as database:
        run_sync(database.upgrade())
    return engine


@pytest.fixture(params=["sqlite", "postgres"])
def open_tables(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenTables]:
    """Return a function that opens tables; each call acts as another process with the same data."""
    opened: list[Any] = []

    def open_sqlite() -> Tables:
        opened.append(SqliteDatabase(tmp_path, "directory"))
        return SqliteTables(opened[-1])

    def open_postgres() -> Tables:
        opened.append(PostgresDatabase(engine.conninfo))
        return PostgresTables(opened[-1])

    if request.param == "postgres":
        engine: engines.Engine = request.getfixturevalue("migrated_engine")
        engine.empty()
    yield open_sqlite if request.param == "sqlite" else open_postgres
    for database in opened:
        database.close()


@pytest.fixture
def tables(open_tables: OpenTables) -> Tables:
    return open_tables()


@pytest.fixture
def clock() -> Clock:
    """Return a clock at 1,000,000 seconds."""
    clock = Clock()
    clock.advance(1_000_000)
    return clock


class TablesTest:
    """Base of the tests of an adapter. Each call of `open_tables` acts as another process with the same data."""

    open_tables: OpenTables

    @pytest.fixture(autouse=True)
    def _open_tables(self, open_tables: OpenTables) -> None:
        self.open_tables = open_tables


def open_store(tables: Tables, sources: Sequence[str] = (), version: str = "1") -> StoredEntries:
    """Return a store of the same data as `tables`, with the `version` of the analysis."""
    if isinstance(tables, SqliteTables):
        return sqlite_store(tables.database, inline, Briefs(version), sources)
    assert isinstance(tables, PostgresTables)
    return postgres_store(tables.database, inline, Briefs(version), sources)


class WithStore(TablesTest):
    """Base of the tests of the Store."""

    async def store(self, sources: Sequence[str] = (), version: str = "1") -> StoredEntries:
        """Return a store that prefers `sources` in this order; each call acts as another process with the same data.

        Its analysis is Briefs(version).
        """
        return open_store(self.open_tables(), sources, version)

    async def curation(self, sources: Sequence[str] = ()) -> StoredCuration:
        """Return the curation of the same data, by another process."""
        return StoredCuration(self.open_tables(), sources)


def run_script(tables: Tables, script: str) -> None:
    """Run a script of SQL."""
    if isinstance(tables, SqliteTables):
        with tables.database.connection() as connection:
            connection.executescript(script)
    else:
        assert isinstance(tables, PostgresTables)
        run_sync(tables.database.write(lambda cursor: cursor.execute(script, binary=False)))


def rows_of(tables: Tables, query: str) -> list[Any]:
    """Return the rows of `query`."""
    return run_sync(tables.read(lambda rows: rows.all(query)))


def number(tables: Tables, query: str) -> int:
    """Return the number that is the only row of `query`."""
    ((number,),) = rows_of(tables, query)
    return int(number)

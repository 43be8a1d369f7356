"""Everything that a data directory stores, as rows of tables, for another database."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence, Set
from contextlib import closing, contextmanager
from functools import cache, partial
from graphlib import TopologicalSorter
from pathlib import Path

from ..domain.errors import BadInput
from ..domain.transfers import Export, ExportedTable
from ..tables import known_steps
from ._data_directory import DataDirectory
from ._database import Database

_LEFT_OUT: dict[str, Set[str] | None] = {
    # Analyses are a table of their own.
    "record": {"analysed", "analysis"},
    # Sums, and the counter of ended keys.
    "stored": None,
    "pulse": None,
    # The clock of the quota, and the steps of the schema.
    "anchor": None,
    "applied_step": None,
}
"""Tables that are not exported (None), and columns that an export leaves out."""

_LEASES = {"holder": "''", "held_until": "0.0", "until": "0.0"}
"""Columns of all tables that are exported as those of a lease that has ended: it is by the clock of this machine."""

_EXPRESSIONS = {"record": {"written": "id"}, "upstream": {"error": "replace(error, char(0), '')"}}
"""Columns by table that are exported otherwise than they are stored. Others have the same names in all databases."""

_NUMBERED = re.compile(r"CREATE TABLE (\w+) \([^;]*\n    ordinal bigint")
"""A table with a column for the order of insertion, which is the rowid in SQLite."""

_ANALYSED = """
    SELECT fingerprint, analysis AS version, min(analysed) AS body FROM record
    WHERE analysis IS NOT NULL AND analysed IS NOT NULL
    GROUP BY fingerprint, analysis ORDER BY fingerprint, analysis
"""

_TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid"

_COLUMNS = "SELECT name, pk > 0 FROM pragma_table_info(?) ORDER BY pk = 0, pk, cid"

_STORED = "SELECT source, names, bytes FROM stored WHERE names > 0 ORDER BY source"


@contextmanager
def export(folder: Path) -> Iterator[Export]:
    """Return the content of the data directory `folder` as a context manager; its files are open until the end.

    Files of an older version are upgraded first. Raises BadInput if `folder` is not a data directory, and Unavailable.
    """
    if not (folder / "directory.db").is_file():
        raise BadInput(f"{folder} is not a data directory: it has no file directory.db.")
    data = DataDirectory(folder)
    try:
        secret = data.session_secret()
        with data.directory.snapshot() as directory, data.quota.snapshot() as quota:
            # The first statements of both transactions, so that all others read the same moment.
            stored = directory.execute(_STORED).fetchall()
            quota.execute("SELECT count(*) FROM sqlite_schema").fetchone()
            analysed = ExportedTable(
                "analysed", ("fingerprint", "version", "body"), 2, partial(directory.execute, _ANALYSED)
            )
            tables = [*_tables(directory), analysed, *_tables(quota)]
            with _statistics(folder) as statistics:
                tables += () if statistics is None else _tables(statistics)
                yield Export(tables, stored, secret)
    finally:
        data.close()


@contextmanager
def _statistics(folder: Path) -> Iterator[sqlite3.Connection | None]:
    """Return a snapshot of the statistics of `folder` as a context manager, None if there are none."""
    if not (folder / "statistics.db").is_file():
        yield None
        return
    with closing(Database(folder, "statistics")) as database, database.snapshot() as connection:
        yield connection


def _tables(connection: sqlite3.Connection) -> Sequence[ExportedTable]:
    """Return the tables of a database, each after those that it refers to."""
    names = [name for (name,) in connection.execute(_TABLES) if _LEFT_OUT.get(name, ()) is not None]
    references = 'SELECT "table" FROM pragma_foreign_key_list(?)'
    order = TopologicalSorter({name: [of for (of,) in connection.execute(references, (name,))] for name in names})
    return [_table(connection, name) for name in order.static_order()]


def _table(connection: sqlite3.Connection, name: str) -> ExportedTable:
    expressions, left_out = dict(_EXPRESSIONS.get(name, {})), _LEFT_OUT.get(name) or ()
    if name in _numbered():
        expressions["ordinal"] = "rowid"
    stored = [(column, is_key) for column, is_key in connection.execute(_COLUMNS, (name,)) if column not in left_out]
    columns = list(dict.fromkeys([*(column for column, _ in stored), *expressions]))
    expressions |= {column: ended for column, ended in _LEASES.items() if column in columns}
    key = sum(is_key for _, is_key in stored) or 1
    selected = ", ".join(f"{expressions.get(column, column)} AS {column}" for column in columns)
    query = f"SELECT {selected} FROM {name} ORDER BY {', '.join(columns[:key])}"
    return ExportedTable(name, columns, key, partial(connection.execute, query))


@cache
def _numbered() -> Set[str]:
    """Return the tables of which another database stores the order of insertion."""
    scripts = [script for step in known_steps("sqlite") for script in step.scripts.values()]
    return {table for script in scripts for table in _NUMBERED.findall(script)}

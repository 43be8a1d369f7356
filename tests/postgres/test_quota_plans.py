"""Plans of the quota's functions: they use the index whatever the statistics of the table say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import psycopg
import pytest

from directory_server.postgres import _quota
from directory_server.postgres._connection import Connection, Cursor, connect, parameters

from ..engines import Engine

KEYS = [f"key-{number:03}" for number in range(400)]

GROW = "INSERT INTO spent SELECT key, 1e9 + n, n FROM unnest($1::text[]) AS key, generate_series(1, 200) AS n"

STATEMENTS: dict[str, tuple[str, Sequence[Any]]] = {
    "charge": (_quota._CHARGE, [KEYS[:8], [1_000] * 8, 3_600.0, 1e9 + 100]),
    "peek": (_quota._PEEK, [KEYS[9], 1_000, 3_600.0, 1e9 + 100]),
    "prune": (_quota._PRUNE, ["", 8, 3_600.0, 1e9 + 100]),
}

MOST_PAGES = 300
"""Pages that eight keys may read. The table has more, and a sequential scan for each key reads all of them."""


@pytest.fixture
def server(engine: Engine) -> Iterator[psycopg.Connection[Any]]:
    """Yield a connection; only the test updates the statistics of `spent`."""
    with psycopg.connect(engine.conninfo, autocommit=True, cursor_factory=psycopg.RawCursor) as connection:
        connection.execute("ALTER TABLE spent SET (autovacuum_enabled = off)")
        yield connection
        connection.execute("ALTER TABLE spent RESET (autovacuum_enabled)")


def pages(connection: Connection, statement: str, values: Sequence[Any]) -> int:
    """Return the number of pages that `statement` reads, with the statements of the function that it calls.

    The first call also reads the catalogue, and so does one after other tables were analysed: three are made.
    """
    read = []
    with Cursor(connection) as cursor:
        for _ in range(3):
            explained = cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}", values, binary=False)
            (((plan,),),) = explained.fetchall()
            read.append(int(plan["Plan"]["Shared Hit Blocks"] + plan["Plan"]["Shared Read Blocks"]))
    return min(read)


def analyse_empty(server: psycopg.Connection[Any]) -> None:
    """Remove all rows, so that the planner knows that the table is empty.

    VACUUM would keep deleted rows while an autovacuum analyses another table, and each call would read them.
    """
    server.execute("TRUNCATE spent")
    server.execute("VACUUM (ANALYZE) spent")


@pytest.mark.parametrize(("statement", "values"), STATEMENTS.values(), ids=STATEMENTS)
def test_functions_use_the_index_whatever_the_statistics_say(
    engine: Engine, server: psycopg.Connection[Any], statement: str, values: Sequence[Any]
) -> None:
    read: dict[str, int] = {}
    with connect(parameters(engine.conninfo)) as planned, Cursor(planned) as cursor:
        analyse_empty(server)
        # More often than PostgreSQL plans a statement again.
        for _ in range(8):
            cursor.all(statement, *values)
        server.execute(GROW, [KEYS[8:]])
        read["planned while it was empty, then grown"] = pages(planned, statement, values)
        server.execute("ANALYZE spent")
        read["analysed"] = pages(planned, statement, values)
        analyse_empty(server)
        for _ in range(8):
            cursor.all(statement, *values)
        server.execute(GROW, [KEYS[8:]])
        read["planned after everything was pruned, then grown"] = pages(planned, statement, values)
    with connect(parameters(engine.conninfo)) as other:
        read["planned after it has grown, not analysed"] = pages(other, statement, values)
    [(size,)] = server.execute("SELECT pg_relation_size('spent') / 8192").fetchall()
    assert size > MOST_PAGES
    assert {state: count for state, count in read.items() if count > MOST_PAGES} == {}

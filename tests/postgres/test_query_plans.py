"""Query plans: no statement reads or sorts all rows of a table that grows with the entries or with the accounts.

The plans are those for any values of the parameters, which the server uses for statements that a connection repeats.
Lists are also planned for given values. The tables are small enough that ANALYZE reads every row, so the plans are
always the same.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import md5
from pathlib import Path
from typing import Any

import psycopg
import pytest

from directory_server import postgres
from directory_server.features.verification import tables as verification_tables
from directory_server.postgres._connection import Connection, Cursor, connect, parameters
from directory_server.postgres._tables import PostgresRows, numbered
from directory_server.runtime.run_sync import run_sync
from directory_server.tables import (
    _change_log,
    _curation,
    _listing,
    _roster,
    postgres_statement,
)

from .. import engines
from ..statements import COMMON, exception, statements
from ..tables.schemas import make_former_postgres

LARGE = (
    *("record", "analysed", "entry", "change", "target", "verification", "seen"),
    *("account", "api_key", "secret", "key_use", "session", "publication"),
)
"""The tables that grow with the entries or with the accounts."""

LOAD = Path(__file__).with_name("query_plans.sql")
"""Script that generates rows."""

LOADED = 12
"""The first step of the schema that runs with the generated rows, as an upgrade of a directory does."""

MOST_ROWS = 2_500
"""Rows of a large table that a statement may read or sort, as the planner estimates them."""

MOST_PAGES = 1_000
"""Pages that a list of ten rows may read, each as often as it is read. All rows of a table are on more pages, or are
found by more reads of pages of an index."""

WHOLE = COMMON | {
    "_import": "copies or counts everything, in the command `database import`",
    "_change_log._CHANGES_WITHIN": "reads changes until enough are of the lists of a scope",
    "_change_log._HAS_CHANGES_WITHIN": "reads changes until one is of the lists of a scope",
    "_listing._SIZED": "is a part of statements with a condition",
    "_mirrors._COUNT_SEEN": "counts the names of a full sync, once at its end",
    "_mirrors._ENTRIES": "counts the names of an upstream, once after a sync run, in the order of an index",
    "_mirrors._FORGET": "deletes the names of a full sync, once after it",
    "_mirrors._UNSEEN": "compares the names of an upstream with those of a full sync, at its end",
    "_entries._OLDEST": "reads the first row",
    "_store._PRUNE": "deletes unused analyses, each hour in one process",
}
"""Statements that may read a large table, or modules of such, and why."""

VALUES: Mapping[str, Sequence[object]] = {
    "_accounts._DELETE_ENDED": [1e9],
    "_key_uses._FORGET": [1e9 + 10],
    "_key_uses._OLD": [1e9 + 10],
    "_keyring._ENDED": [2e9 - 3600, 2e9],
    "publishing._FORGET": [1e9 + 10],
    "publishing._OLD": [1e9 + 10],
    "verification._COUNT_DUE": [["package", "remote"], 1e9 + 10],
}
"""Parameters of statements with ranges, which read few rows. For any parameters the planner expects a third of the
table, so the server plans these statements for their values."""

DUE = {"kind": "remote", "kinds": ["package", "remote"], "hosts": ["host1"], "seconds": 60.0, "limit": 10}
"""Parameters of statements for due targets."""

FIRST_PAGE = {"text": "", "before": math.inf, "after": "", "limit": 10}
"""Values of the lists of accounts and keys."""

CURATED = {"local": "local", "published": "published", "after": "", "limit": 10}
"""Parameters of the list of curated names."""

LISTS: Mapping[str, tuple[str, Sequence[object] | Mapping[str, object]]] = {
    "newest": (_listing._NEWEST, {"limit": 10}),
    "changes": (_change_log._CHANGES[False], {"after": 5_000, "limit": 10, "analysis": "1"}),
    "changes at the end": (_change_log._CHANGES[False], {"after": 9_990, "limit": 10, "analysis": "1"}),
    "changes of hidden entries, too": (_change_log._CHANGES[True], {"after": 5_000, "limit": 10, "analysis": "1"}),
    "current": (_change_log._CURRENT[False], {"after": "8", "limit": 10, "analysis": "1"}),
    "current with hidden entries": (_change_log._CURRENT[True], {"after": "8", "limit": 10, "analysis": "1"}),
    "curated": (_curation._CURATED, CURATED | {"text": ""}),
    "curated with a rare text": (_curation._CURATED, CURATED | {"text": "zzz"}),
    "due, all": (verification_tables._DUE, DUE | {"now": 2e9}),
    "due, none": (verification_tables._DUE, DUE | {"now": 0.0}),
    "any due": (verification_tables._FIRST_DUE, DUE | {"now": 2e9}),
    "none due": (verification_tables._FIRST_DUE, DUE | {"now": 0.0}),
    "number of due": (verification_tables._COUNT_DUE, DUE | {"now": 1e9 + 10}),
    "keys": (_roster._KEYS, FIRST_PAGE),
    "keys, next page": (_roster._KEYS, FIRST_PAGE | {"before": 1e9 + 5_000, "after": "0"}),
    "keys of an account": (_roster._OWNED_KEYS, FIRST_PAGE | {"owner": md5(b"77").hexdigest()}),
    "accounts": (_roster._ACCOUNTS, FIRST_PAGE),
    "accounts, next page": (_roster._ACCOUNTS, FIRST_PAGE | {"before": 1e9 + 2_500, "after": "0"}),
    "all accounts": (_roster._ALL_ACCOUNTS, {"after": 0, "limit": 10}),
    "all keys": (_roster._ALL_KEYS, {"after": 0, "limit": 10}),
    "all keys, next page": (_roster._ALL_KEYS, {"after": 5_000, "limit": 10}),
}
"""Statements of lists, with values."""


STATEMENTS = [(name, postgres_statement(text)[0]) for name, text in statements(postgres)]


@pytest.fixture(scope="module")
def connection() -> Iterator[Connection]:
    engine = engines.shared_engine()
    with psycopg.connect(engine.conninfo, autocommit=True) as server:
        server.execute("CREATE DATABASE plans TEMPLATE template0 ENCODING 'UTF8'")
    conninfo = f"{engine.conninfo} dbname=plans"
    database = postgres.Database(conninfo)
    with connect(parameters(conninfo)) as connection:
        # Rows are written by the hundred thousand.
        connection.patience = None
        make_former_postgres(connection, LOADED - 1)
        connection.execute(LOAD.read_text("ascii"))
        assert str(LOADED) in run_sync(database.upgrade())
        connection.execute("VACUUM (ANALYZE)")
        yield connection
    database.close()
    with psycopg.connect(engine.conninfo, autocommit=True) as server:
        server.execute("DROP DATABASE plans WITH (FORCE)")


class ExplainingCursor(Cursor):
    """A cursor that counts the pages that its statements read, and names the statements that read a whole table."""

    pages = 0

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self.scans: list[str] = []

    def all(self, query: str, *parameters: object) -> list[Any]:
        explain = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {query}"
        plan = _plan(self.execute(explain, parameters, binary=False).fetchone())
        self.pages += plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
        run = [node for node, _ in nodes(plan) if node["Node Type"] == "Seq Scan" and node["Actual Loops"]]
        self.scans += [node["Relation Name"] for node in run if node.get("Relation Name") in LARGE]
        return super().all(query, *parameters)


def plan_of(connection: Connection, statement: str, values: Sequence[object]) -> dict[str, Any]:
    """Return the plan of `statement` for `values`."""
    with Cursor(connection) as cursor:
        return _plan(cursor.execute(f"EXPLAIN (FORMAT JSON) {statement}", values, binary=False).fetchone())


def generic_plan(connection: Connection, statement: str) -> dict[str, Any]:
    """Return the plan of `statement` for any parameters, with limits of ten rows."""
    count = max((int(each) for each in re.findall(r"\$(\d+)", statement)), default=0)
    limits = {int(each) for each in re.findall(r"LIMIT \$(\d+)", statement)}
    limited = re.sub(r"LIMIT \$\d+(::int)?", "LIMIT 10", statement)
    types = ", ".join("int" if number in limits else "unknown" for number in range(1, count + 1))
    values = ", ".join(["NULL"] * count)
    with connection.transaction(force_rollback=True):
        connection.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        connection.execute(f"PREPARE planned {f'({types})' if count else ''} AS {limited}")
        found = connection.execute(f"EXPLAIN (FORMAT JSON) EXECUTE planned {f'({values})' if count else ''}")
        plan = _plan(found.fetchone())
        connection.execute("DEALLOCATE planned")
    return plan


def _plan(row: Any) -> dict[str, Any]:
    ((explained,),) = row
    return dict(explained["Plan"])


def nodes(plan: Mapping[str, Any], *, is_limited: bool = False) -> Iterator[tuple[Mapping[str, Any], bool]]:
    """Yield the nodes of a plan, each with whether a limit ends its reading."""
    yield plan, is_limited
    kind = plan["Node Type"]
    is_limited = kind == "Limit" or (is_limited and kind not in ("Sort", "Aggregate", "Hash", "Bitmap Heap Scan"))
    for each in plan.get("Plans", ()):
        yield from nodes(each, is_limited=is_limited)


def large_reads(plan: Mapping[str, Any]) -> list[str]:
    """Return the nodes of a plan that read or sort many rows of large tables."""
    found = []
    for node, is_limited in nodes(plan):
        kind, table, rows = node["Node Type"], node.get("Relation Name"), node["Plan Rows"]
        if table in LARGE and "Scan" in kind:
            if not {"Index Cond", "Recheck Cond"} & node.keys():
                found.append(f"{kind} of {table} without a condition")
            elif rows > MOST_ROWS and not is_limited:
                found.append(f"{kind} of {table}: {rows:,.0f} rows")
        elif kind == "Sort" and rows > MOST_ROWS:
            found.append(f"{kind} of {rows:,.0f} rows")
    return found


def test_all_statements_are_found() -> None:
    assert len(list(STATEMENTS)) > 150


def test_all_exceptions_are_statements() -> None:
    assert {exception(name, WHOLE) for name, _ in STATEMENTS} == {None, *WHOLE}


@pytest.mark.parametrize(
    ("name", "statement"),
    [pytest.param(name, text, id=name) for name, text in STATEMENTS if exception(name, WHOLE) is None],
)
def test_no_statement_reads_a_large_table(connection: Connection, name: str, statement: str) -> None:
    values = VALUES.get(name)
    plan = generic_plan(connection, statement) if values is None else plan_of(connection, statement, values)
    assert large_reads(plan) == [], plan


@pytest.mark.parametrize("curated", [False, True])
@pytest.mark.parametrize("since", [0.0, 1e9 + 9_990, 9e9])
@pytest.mark.parametrize("after", [("", ""), ("com.example.8", "1")])
@pytest.mark.parametrize("versions", ["latest", "all", "1.0.7", "0.9.0", "9.9.9"])
def test_lists_of_versions_read_few_pages(
    connection: Connection, versions: str, after: tuple[str, str], since: float, curated: bool
) -> None:
    query = _listing.ListingQuery(*after, 10, versions, since, include_deleted=False, curated=curated, every_kind=False)
    with ExplainingCursor(connection) as cursor:
        found = _listing.listing(PostgresRows(cursor), query, most=1_000_000)
        # An index has no name with the last version.
        most = 20 if versions == "9.9.9" and not (since or curated) else MOST_PAGES
        assert (cursor.scans, cursor.pages < most) == ([], True), cursor.pages
    if not (since or curated or versions == "9.9.9"):
        assert len(found) == 10


@pytest.mark.parametrize(("statement", "values"), [pytest.param(*each, id=name) for name, each in LISTS.items()])
def test_lists_read_few_pages(
    connection: Connection, statement: str, values: Sequence[object] | Mapping[str, object]
) -> None:
    if isinstance(values, Mapping):
        statement, values = numbered(statement, values)
    with connection.transaction(force_rollback=True), ExplainingCursor(connection) as cursor:
        cursor.all(statement, *values)
        assert (cursor.scans, cursor.pages < MOST_PAGES) == ([], True), cursor.pages


@pytest.mark.parametrize("now", [None, 1e9 + 10])
def test_due_targets_are_found_by_their_time(connection: Connection, now: float | None) -> None:
    values = DUE | {"kind": "package", "kinds": ["package"], "now": now}
    for statement in (verification_tables._DUE, verification_tables._COUNT_DUE):
        plan = plan_of(connection, *numbered(statement, values))
        [condition] = [node["Index Cond"] for node, _ in nodes(plan) if "Index Cond" in node]
        assert "due_at <=" in condition

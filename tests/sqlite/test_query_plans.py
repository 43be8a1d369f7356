"""Query plans: no statement reads all rows of a table that grows with the entries."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator

import pytest

from directory_server import sqlite
from directory_server.features.verification import tables as verification_tables
from directory_server.tables import _curation, _listing, _mirrors, _roster, _sessions, sqlite_statement

from ..statements import COMMON, exception, statements

LARGE = (
    *("record", "entry", "change", "target", "verification", "seen", "first", "visible", "preferred"),
    *("account", "api_key", "secret", "current", "given", "key_use", "session", "publication"),
)
"""The tables that grow with the entries or with the accounts, and their aliases."""

WHOLE = COMMON | {
    "_export": "copies everything, in the command `database import`",
    "_curation._CURATED": "looks for a text in all curated names, in an index and in a thread",
}
"""Statements that may scan a large table, or modules of such, and why."""


STATEMENTS = list(statements(sqlite))


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    data = sqlite.DataDirectory(tmp_path_factory.mktemp("data"))
    with data.directory.connection() as connection:
        yield connection
    data.close()


def plan(connection: sqlite3.Connection, statement: str) -> list[str]:
    """Return the steps of the plan of `statement`; an empty list if its tables are not those of the directory."""
    statement, _ = sqlite_statement(statement)
    named = dict.fromkeys(re.findall(r":(\w+)", statement))
    numbered = [int(each) for each in re.findall(r"\?(\d+)", statement)]
    arguments = named or [None] * max(numbered, default=statement.count("?"))
    try:
        found = connection.execute(f"EXPLAIN QUERY PLAN {statement}", arguments)
    except sqlite3.OperationalError as error:
        # Statements of the quota, of statistics and of locks, and parts of statements.
        if not re.match("no such (table|column|function)", str(error)):
            raise
        return []
    return [row[3] for row in found]


def test_all_exceptions_are_statements() -> None:
    assert {exception(name, WHOLE) for name, _ in STATEMENTS} == {None, *WHOLE}


@pytest.mark.parametrize(
    "statement", [pytest.param(text, id=name) for name, text in STATEMENTS if exception(name, WHOLE) is None]
)
def test_no_statement_reads_a_large_table(connection: sqlite3.Connection, statement: str) -> None:
    scanned = [step for step in plan(connection, statement) if re.match(rf"SCAN ({'|'.join(LARGE)})\b", step)]
    assert scanned == [], statement


@pytest.mark.parametrize("kind", ["latest", "exact", "all"])
def test_lists_are_read_in_order(connection: sqlite3.Connection, kind: str) -> None:
    lists = [_listing._LISTS[kind], _listing._CURATED_LISTS[kind]]
    steps, others = (plan(connection, sqlite_statement(statement)[0]) for statement in lists)
    assert steps == others
    assert steps
    assert not [step for step in steps if "TEMP B-TREE" in step and "LAST" not in step], steps
    assert kind != "exact" or "record_version" in " ".join(steps)
    of_names = plan(connection, sqlite_statement(_listing._LISTS_OF_NAMES[kind])[0])
    assert any("name=?" in step for step in of_names), of_names
    recent = [" ".join(plan(connection, sqlite_statement(each)[0])) for each in _listing._RECENT.values()]
    assert all("COVERING INDEX" in each and "_updated (updated_at>?)" in each for each in recent), recent


IN_ORDER = {
    "curated names": (_curation._CURATED, "SEARCH entry USING COVERING INDEX entry_listed (name>?)"),
    "names of a source": (
        _mirrors._ENTRIES,
        "SEARCH record USING COVERING INDEX record_of_source (source=? AND deleted=?)",
    ),
    "due targets": (verification_tables._DUE, "SEARCH target USING INDEX target_due (kind=? AND due_at<?)"),
    "keys": (_roster._KEYS, "SEARCH api_key USING INDEX api_key_listed ((created_at,id)<(?,?))"),
    "accounts": (_roster._ACCOUNTS, "SEARCH account USING INDEX account_listed ((created_at,id)<(?,?))"),
    "all accounts": (_roster._ALL_ACCOUNTS, "SEARCH account USING INTEGER PRIMARY KEY (rowid>?)"),
    "all keys": (_roster._ALL_KEYS, "SEARCH api_key USING INTEGER PRIMARY KEY (rowid>?)"),
    "idle sessions": (_sessions._FORGET_IDLE, "SEARCH session USING COVERING INDEX session_seen (seen_at<?)"),
    "old sessions": (_sessions._FORGET_OLD, "SEARCH session USING COVERING INDEX session_created (created_at<?)"),
}
"""Statements that read an index in its order, and the step of the plan that does."""


@pytest.mark.parametrize(("statement", "step"), IN_ORDER.values(), ids=IN_ORDER)
def test_pages_are_read_in_the_order_of_an_index(connection: sqlite3.Connection, statement: str, step: str) -> None:
    steps = plan(connection, statement)
    assert step in steps, steps
    assert not [each for each in steps if "TEMP B-TREE" in each], steps


def test_keys_of_an_account_are_found_in_an_index(connection: sqlite3.Connection) -> None:
    assert "SEARCH api_key USING INDEX api_key_of_owner (owner=?)" in plan(connection, _roster._OWNED_KEYS)


def test_all_statements_are_found() -> None:
    assert len(list(STATEMENTS)) > 170

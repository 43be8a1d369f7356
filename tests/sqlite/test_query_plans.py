"""Query plans: no statement reads all rows of a table that grows with the entries."""

from __future__ import annotations

import importlib
import pkgutil
import re
import sqlite3
from collections.abc import Iterator, Mapping

import pytest

from directory_server import sqlite, tables
from directory_server.features import publishing, quota_requests, reports, statistics, verification
from directory_server.features.verification import tables as verification_tables
from directory_server.tables import _curation, _listing, _mirrors, _roster, _sessions, sqlite_statement

PACKAGES = (sqlite, tables, publishing, quota_requests, reports, statistics, verification)
"""The packages whose modules have statements."""

LARGE = (
    *("record", "entry", "change", "target", "verification", "seen", "first", "visible", "preferred"),
    *("account", "api_key", "secret", "current", "given", "key_use", "session", "publication"),
)
"""The tables that grow with the entries or with the accounts, and their aliases."""

WHOLE = {
    "_export": "copies everything, in the command `database import`",
    "verification._ALL_CHECKED": "forgets all checks, in the command `verify --forget`",
    "verification._CHECKED": "is a part of statements with a condition",
    "_listing._NEWEST": "ends at its limit, in the order of an index",
    "_entries._COUNT": "reads the last row",
    "_entries._HEAD": "reads the last row",
    "_visibility._LAST": "reads the last row",
    "_listing._ROWS": "are parts of statements with a limit",
    "_curation._NAME": "is a part of statements with a condition",
    "_curation._CURATED": "looks for a text in all curated names, in an index and in a thread",
    "_account_rows._ACCOUNT": "is a part of statements with a condition",
    "_accounts._ACCOUNT": "is a part of statements with a condition",
    "_accounts._ALL": "lists all accounts, in tests",
    "_accounts._PENDING": "reads pending accounts only, in an index",
    "_key_uses._LIST": "lists all uses, in tests",
    "_keyring._KEY": "is a part of statements with a condition",
    "_keyring._LIST": "lists all keys, in tests",
    "_roster._ACCOUNT": "is a part of statements with a condition",
    "_roster._COUNTS": "ends at its limits",
    "_roster._KEY": "is a part of statements with a condition",
    "_roster._KEYS": "looks for a text in all addresses, in a thread",
    "_roster._PENDING_ACCOUNTS": "reads pending accounts only, in an index",
    "_roster._TOTAL_ACCOUNTS": "counts all accounts, in the command `status`",
    "_roster._TOTAL_KEYS": "counts all keys, in the command `status`",
}
"""Statements that may scan a large table, or modules of such, and why."""


def statements() -> Iterator[tuple[str, str]]:
    """Yield the names and texts of the statements of all modules."""
    modules = [(package.__name__, each.name) for package in PACKAGES for each in pkgutil.iter_modules(package.__path__)]
    for package, module in modules:
        place = package.rpartition(".")[2] if module == "tables" else module
        for name, value in vars(importlib.import_module(f"{package}.{module}")).items():
            texts = value if isinstance(value, Mapping) else {"": value}
            if isinstance(value, tuple):
                texts = dict(enumerate(value))
            for key, text in texts.items():
                if isinstance(text, str) and re.match(r"\s*(SELECT|INSERT|UPDATE|DELETE)\b[^{]*$", text):
                    yield f"{place}.{name}" + (f"[{key}]" if key != "" else ""), text


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


def exception(name: str) -> str | None:
    """Return the name in WHOLE of a statement, None for those that must not scan a large table."""
    return next((each for each in (name, name.partition("[")[0], name.partition(".")[0]) if each in WHOLE), None)


def test_all_exceptions_are_statements() -> None:
    assert {exception(name) for name, _ in statements()} == {None, *WHOLE}


@pytest.mark.parametrize(
    "statement", [pytest.param(text, id=name) for name, text in statements() if exception(name) is None]
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
    "curated names": (_curation._CURATED, "SEARCH entry USING COVERING INDEX listed (name>?)"),
    "names of a source": (_mirrors._ENTRIES, "SEARCH record USING COVERING INDEX of_source (source=? AND deleted=?)"),
    "due targets": (verification_tables._DUE, "SEARCH target USING INDEX target_due (kind=? AND due_at<?)"),
    "keys": (_roster._KEYS, "SEARCH api_key USING INDEX key_listed ((created_at,id)<(?,?))"),
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
    assert "SEARCH api_key USING INDEX key_of_owner (owner=?)" in plan(connection, _roster._OWNED_KEYS)


def test_all_statements_are_found() -> None:
    assert len(list(statements())) > 170

"""Upgrades of a data directory and of a database, from each step of the schema, keep all rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Any

import psycopg
import pytest

from directory_server.domain.requests import Request
from directory_server.postgres import Database as PostgresDatabase
from directory_server.postgres import import_data
from directory_server.runtime.run_sync import run_sync
from directory_server.sqlite import Database, export
from directory_server.sqlite._database import Schema
from directory_server.tables import request_of
from directory_server.upgrades import former_steps

from .. import engines
from ..postgres.importing.conftest import Filled, filled
from .schemas import make_former_postgres, make_former_sqlite

pytestmark = pytest.mark.slow

__all__ = ["filled"]

RENAMED = {
    "count": "statistic_count",
    "query": "statistic_query",
    "entry.shown": "visible_id",
    "entry.chosen": "preferred_id",
    "seen.taken": "accepted",
    "upstream.question": "selection",
    "upstream.last_round": "last_run",
    "upstream.next_round": "next_run",
    "upstream.mark": "updated_since",
    "upstream.walked": "full_sync_names",
    "upstream.walked_at": "full_sync_at",
    "upstream.walk_full": "progress_full",
    "upstream.walk_began": "progress_began",
    "upstream.walk_cursor": "progress_cursor",
}
"""Tables and columns of older steps of SQLite, and their names now."""

GONE = {
    "accepted_marks",
    "applied_policy",
    "embedding_model",
    "entry_flag",
    "lease",
    "package_texts",
    "verification",
    "verification_plan",
    "webhook_change",
    "webhook_entry",
    "webhook_reader",
    "report",
    "quota_request",
    "list_request",
    "list_request_event",
}
"""Tables that later steps drop, or of which they drop columns."""

WRITTEN_BY_STEPS = {"log", "pulse", "schema_step", "applied_step"}
"""Tables that the steps fill."""

WITH_CURATION = 3
"""The step of SQLite since which a name without a change may have a row."""


def now_named(table: str, columns: Sequence[str]) -> tuple[str, list[str]]:
    """Return the names that a table and its columns have now."""
    return RENAMED.get(table, table), [RENAMED.get(f"{table}.{column}", column) for column in columns]


def in_order(rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in rows), key=repr)


SQLITE = [
    (schema, number)
    for schema in ("directory", "quota", "statistics")
    for number in range(1, len(former_steps("sqlite", schema)))
]


def sqlite_columns(connection: sqlite3.Connection) -> dict[str, list[str]]:
    tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    return {
        table: [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        for (table,) in tables.fetchall()
        if table not in {*WRITTEN_BY_STEPS, *GONE, "stored"}
    }


@pytest.mark.parametrize(("schema", "number"), SQLITE)
def test_an_upgrade_of_a_data_directory_keeps_all_rows(
    filled: Filled, tmp_path: Path, schema: Schema, number: int
) -> None:
    expected: dict[str, list[tuple[Any, ...]]] = {}
    present = sqlite3.connect(f"file:{filled.folder / f'{schema}.db'}?mode=ro", uri=True)
    with closing(present), closing(sqlite3.connect(tmp_path / f"{schema}.db")) as old:
        make_former_sqlite(old, schema, number)
        for table, columns in sqlite_columns(old).items():
            name, names = now_named(table, columns)
            query = f"SELECT {', '.join(names)} FROM {name}"
            if name == "entry" and number < WITH_CURATION:
                query += " WHERE seq > 0"
            expected[query] = rows = present.execute(query).fetchall()
            insert = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
            old.executemany(insert, rows)
        old.commit()
    stored = "SELECT source, names, bytes FROM stored WHERE names ORDER BY source"
    with closing(sqlite3.connect(f"file:{filled.folder / 'directory.db'}?mode=ro", uri=True)) as present:
        totals = present.execute(stored).fetchall()
    with closing(Database(tmp_path, schema)) as database, database.connection() as connection:
        assert sum(map(len, expected.values())) > 1
        for query, rows in expected.items():
            assert in_order(connection.execute(query).fetchall()) == in_order(rows), query
        if schema == "directory":
            assert connection.execute(stored).fetchall() == totals
            (keys,) = connection.execute("SELECT keys FROM pulse").fetchone()
            assert keys >= 0


@pytest.fixture(scope="module")
def present(filled: Filled) -> Iterator[psycopg.Connection[Any]]:
    """Return a connection to a database with one of everything, at the latest step."""
    with created("upgrade_present") as conninfo:
        with closing(PostgresDatabase(conninfo)) as database, export(filled.folder) as source:
            run_sync(database.upgrade())
            run_sync(import_data(source, database))
        with psycopg.connect(conninfo, autocommit=True) as connection:
            yield connection


@contextmanager
def created(name: str) -> Iterator[str]:
    """Create a database; return its connection string as a context manager, and drop it at the end."""
    conninfo = engines.shared_engine().conninfo
    with psycopg.connect(conninfo, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")
        yield f"{conninfo} dbname={name}"
        server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def postgres_columns(connection: psycopg.Connection[Any]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for table, column in connection.execute(
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public' "
        "ORDER BY table_name, ordinal_position"
    ):
        found.setdefault(table, []).append(column)
    return {table: columns for table, columns in found.items() if table not in WRITTEN_BY_STEPS | GONE}


@pytest.mark.parametrize("number", range(1, len(former_steps("postgres"))))
def test_an_upgrade_of_a_database_keeps_all_rows(present: psycopg.Connection[Any], number: int) -> None:
    expected: dict[str, list[tuple[Any, ...]]] = {}
    with created("upgrade_old") as conninfo, psycopg.connect(conninfo, autocommit=True) as old:
        make_former_postgres(old, number)
        old.execute("SET session_replication_role = replica")
        for table, columns in postgres_columns(old).items():
            query = f"SELECT {', '.join(columns)} FROM {table}"
            expected[query] = rows = present.execute(query).fetchall()
            with old.cursor() as cursor:
                values = ", ".join(["%s"] * len(columns))
                cursor.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({values})", rows)
        upgrade_postgres(conninfo)
        assert sum(map(len, expected.values())) > 100
        for query, rows in expected.items():
            assert in_order(old.execute(query).fetchall()) == in_order(rows), query


def upgrade_postgres(conninfo: str) -> None:
    """Bring a database to the schema of this version."""
    with closing(PostgresDatabase(conninfo)) as database:
        assert run_sync(database.upgrade())
        assert not run_sync(database.upgrade())


PERSONS = """
    INSERT INTO account (id, email, password, created_at, approved_at) VALUES ('invited', 'a', 'hash', 1, 1),
        ('pending', 'b', 'hash', 1, NULL), ('approved', 'c', 'hash', 1, 2), ('linked', 'd', 'hash', 1, 2),
        ('vouched', 'e', 'hash', 1, 1);
    INSERT INTO identity (digest, account, issuer, groups, created_at, signed_in_at) VALUES
        ({one}, 'linked', 'https://a.example', '[]', 10, 20), ({two}, 'vouched', 'https://a.example', '[]', 10, 20);
    INSERT INTO session (digest, account, created_at, seen_at) VALUES
        ({one}, 'linked', 9, 9), ({two}, 'linked', 11, 11), ({three}, 'vouched', 9, 9), ({four}, 'approved', 9, 9);
    INSERT INTO link (account, digest, expires_at) VALUES ('linked', {one}, 99), ('approved', {two}, 99);
    INSERT INTO api_key (id, label, created_at, owner) VALUES ('before', 'x', 9, 'linked'),
        ('after', 'x', 11, 'linked'), ('other', 'x', 9, 'vouched'), ('own', 'x', 9, 'approved'), ('none', 'x', 9, NULL);
"""


def before(*folder: str) -> int:
    """Return the number of steps before the one that confirms accounts."""
    return len([*takewhile(lambda step: "ADD COLUMN confirmed" not in step, former_steps(*folder))])


KEPT = {
    "SELECT id FROM account WHERE confirmed ORDER BY id": ["invited", "linked", "vouched"],
    "SELECT id FROM account WHERE password IS NULL": ["linked"],
    "SELECT account FROM session WHERE person IS NULL ORDER BY account": ["approved", "linked", "vouched"],
    "SELECT account FROM link": ["approved"],
    "SELECT id FROM api_key WHERE revoked_at = 10": ["before"],
    "SELECT id FROM api_key WHERE revoked_at IS NULL ORDER BY id": ["after", "none", "other", "own"],
}
"""What an upgrade leaves of PERSONS: the one who registered an account before its first person has no access."""


def test_an_upgrade_of_a_data_directory_ends_what_was_registered_before_a_person(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "directory.db")) as old:
        make_former_sqlite(old, "directory", before("sqlite", "directory"))
        old.executescript(PERSONS.format(one="x'01'", two="x'02'", three="x'03'", four="x'04'"))
        old.commit()
    with closing(Database(tmp_path, "directory")) as database, database.connection() as connection:
        for query, rows in KEPT.items():
            assert [value for (value,) in connection.execute(query)] == rows, query


def test_an_upgrade_of_a_database_ends_what_was_registered_before_a_person() -> None:
    with created("upgrade_persons") as conninfo, psycopg.connect(conninfo, autocommit=True) as connection:
        make_former_postgres(connection, before("postgres"))
        connection.execute(PERSONS.format(one="'1'", two="'2'", three="'3'", four="'4'"))
        upgrade_postgres(conninfo)
        for query, rows in KEPT.items():
            assert [value for (value,) in connection.execute(query)] == rows, query


FOLLOWED = """
    INSERT INTO embedding_model (model, log, seq, is_complete, revision, removed, holder, until)
        VALUES ('model', 'log', 5, 1, 7, 2, 'holder', 9);
    INSERT INTO verification_plan (id, seq, selection, holder, held_until) VALUES (1, 5, '+x/*', 'holder', 9);
    INSERT INTO applied_policy (id, rules) VALUES (1, 'digest');
    INSERT INTO webhook (id, label, url, kinds, namespaces, keywords, created_at, seq, pending, salt, sealed) VALUES
        ('behind', 'x', 'u', 'added', '', '', 1, 40, 60, {blob}, {blob}),
        ('idle', 'x', 'u', 'added', '', '', 1, 90, 0, {blob}, {blob});
    INSERT INTO webhook_reader (id, log, seq, is_complete) VALUES (1, 'log of webhooks', 100, 1);
    INSERT INTO webhook_change (seq, name, kinds) VALUES (40, 'x', 'added'), (60, 'x', 'added'), (70, 'x', 'changed');
"""

POSITIONS = {
    "SELECT model, is_complete, revision, removed, replaced_at FROM embedding_model": [("model", 1, 7, 2, None)],
    "SELECT name, seq, version, holder, until FROM follower ORDER BY name": [
        ("rules of the policy", 0, "digest", "", 0.0),
        ("targets of checks", 5, "+x/*", "", 0.0),
    ],
    # What was read for a webhook, and is not for it, is not read again.
    "SELECT id, log, seq, pending FROM webhook ORDER BY id": [
        ("behind", "log of webhooks", 59, 60),
        ("idle", "log of webhooks", 100, 0),
    ],
    "SELECT count(*) FROM follower, log WHERE follower.log = log.id": [(2,)],
}
"""What became of positions in the log."""


def test_an_upgrade_keeps_positions_in_the_log(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "directory.db")) as old:
        make_former_sqlite(old, "directory", len(former_steps("sqlite", "directory")))
        old.executescript(FOLLOWED.format(blob="x'01'"))
        old.commit()
    with closing(Database(tmp_path, "directory")) as database, database.connection() as connection:
        for query, rows in POSITIONS.items():
            assert connection.execute(query).fetchall() == rows
    with created("upgrade_positions") as conninfo, psycopg.connect(conninfo, autocommit=True) as former:
        make_former_postgres(former, len(former_steps("postgres")))
        former.execute(FOLLOWED.format(blob="'1'"))
        upgrade_postgres(conninfo)
        for query, rows in POSITIONS.items():
            assert former.execute(query).fetchall() == rows


ASKED = """
    INSERT INTO account (id, email, created_at, approved_at) VALUES
        ('ann', 'a', 1, 1), ('bob', 'b', 1, 1), ('cy', 'c', 5, NULL), ('dan', 'd', 6, NULL);
    UPDATE account SET disabled_at = 7 WHERE id = 'dan';
    INSERT INTO report (id, mcp_id, server_name, version, reason, text, reported_at, closed_at) VALUES
        ('r1', 'mcp', 'x/a "1"', '1', 'spam', 'Bad.', 10, NULL), ('r2', 'mcp', 'x/a', '1', 'other', '', 20, 30);
    INSERT INTO quota_request (account, wanted, reason, requested_at, decided_at, granted) VALUES
        ('ann', 500, 'Agents.', 40, 50, 300), ('bob', 500, 'Agents.', 60, NULL, NULL);
    INSERT INTO list_request (id, list, name, account, waits_for, state, created_at, updated_at) VALUES
        ('l1', 'red', 'x/a', 'ann', '', 'asked', 70, 80), ('l2', 'red', 'x/b', NULL, 'digest', 'open', 90, 90);
    INSERT INTO list_request_event (request, number, at, kind, account, text) VALUES
        ('l1', 0, 70, 'requested', 'ann', 'Mail.'), ('l1', 1, 80, 'question', 'bob', 'Why?'),
        ('l2', 0, 90, 'version', NULL, '');
"""

MOVED = [
    Request("list", "x/a", "red", "ann", {}, "asked", 70, 80, "l1"),
    Request("version", "x/b", "red", None, {"digest": "digest"}, "open", 90, 90, "l2"),
    Request("quota", "ann", "", "ann", {"wanted": 500, "granted": 300}, "approved", 40, 50, "qann"),
    Request("quota", "bob", "", "bob", {"wanted": 500, "granted": None}, "open", 60, 60, "qbob"),
    Request("report", "mcp", "", None, {"name": 'x/a "1"', "version": "1", "reason": "spam"}, "open", 10, 10, "r1"),
    Request("report", "mcp", "", None, {"name": "x/a", "version": "1", "reason": "other"}, "closed", 20, 30, "r2"),
    Request("registration", "cy", "", "cy", {}, "open", 5, 0, "rcy"),
]

MOVED_EVENTS = [
    *(("l1", 0, 70, "requested", "ann", "Mail."), ("l1", 1, 80, "question", "bob", "Why?")),
    ("l2", 0, 90, "version", None, ""),
    *(("qann", 0, 40, "requested", "ann", "Agents."), ("qann", 1, 50, "approved", None, "")),
    ("qbob", 0, 60, "requested", "bob", "Agents."),
    ("r1", 0, 10, "requested", None, "Bad."),
    *(("r2", 0, 20, "requested", None, ""), ("r2", 1, 30, "closed", None, "")),
    ("rcy", 0, 5, "requested", "cy", ""),
]
"""What becomes of ASKED."""

READ_MOVED = """
    SELECT kind, subject, place, account, details, state, created_at,
        CASE WHEN kind = 'registration' AND updated_at > 1e9 THEN 0 ELSE updated_at END, id FROM request ORDER BY id
"""

READ_EVENTS = "SELECT request, number, at, kind, account, text FROM request_event ORDER BY request, number"


def test_an_upgrade_makes_one_table_of_all_requests(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "directory.db")) as old:
        make_former_sqlite(old, "directory", len(former_steps("sqlite", "directory")))
        old.executescript(ASKED)
        old.commit()
    with closing(Database(tmp_path, "directory")) as database, database.connection() as connection:
        assert [request_of(row) for row in connection.execute(READ_MOVED)] == MOVED
        assert connection.execute(READ_EVENTS).fetchall() == MOVED_EVENTS
    with created("upgrade_requests") as conninfo, psycopg.connect(conninfo, autocommit=True) as former:
        make_former_postgres(former, len(former_steps("postgres")))
        former.execute(ASKED)
        upgrade_postgres(conninfo)
        assert [request_of(row) for row in former.execute(READ_MOVED)] == MOVED
        assert former.execute(READ_EVENTS).fetchall() == MOVED_EVENTS

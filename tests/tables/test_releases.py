"""Databases that earlier releases made, upgraded: all rows are as they were, or as the steps make them."""

from __future__ import annotations

import gzip
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from directory_server.postgres import Database as PostgresDatabase
from directory_server.postgres import postgres_store
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.sqlite import Database as SqliteDatabase
from directory_server.sqlite import sqlite_store
from directory_server.sqlite._database import Schema

from ..contract.store import Briefs
from .test_upgrades import created, in_order, now_named

FOLDER = Path(__file__).parent / "releases"

FIRST, SECOND = "53e234ce", "f7df136b"

Row = dict[str, Any]
Rows = dict[str, list[Row]]

FILES: Sequence[Schema] = ("directory", "quota", "statistics")

ENTRIES = 60
"""Entries that each release has imported."""


class Place:
    """A database with the rows of a release."""

    def __init__(self, release: str) -> None:
        self.release = release

    def upgrade(self) -> None:
        """Bring it to the schema of this version."""
        raise NotImplementedError

    def all(self, query: str) -> list[Any]:
        """Return the rows of a query; truth values are 0 or 1."""
        raise NotImplementedError

    def columns(self) -> dict[str, list[str]]:
        """Return the columns of all tables."""
        raise NotImplementedError

    def entries(self) -> int:
        """Return the number of visible entries that the store reads."""
        raise NotImplementedError

    def rows(self) -> Rows:
        """Return the rows of all tables."""
        return {
            table: [dict(zip(columns, row, strict=True)) for row in self.all(f"SELECT {quoted(columns)} FROM {table}")]
            for table, columns in self.columns().items()
        }


class SqlitePlace(Place):
    def __init__(self, release: str, folder: Path) -> None:
        super().__init__(release)
        self._folder = folder
        self._files: dict[str, str] = {}
        parts = re.split(r"^-- file: (\w+)\n", read(release, "sqlite"), flags=re.MULTILINE)[1:]
        for file, script in zip(parts[::2], parts[1::2], strict=True):
            with closing(sqlite3.connect(folder / f"{file}.db")) as connection:
                connection.executescript(script)
        self._find_tables()

    def _find_tables(self) -> None:
        for file in FILES:
            with closing(sqlite3.connect(self._folder / f"{file}.db")) as connection:
                for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'"):
                    self._files[table] = file

    def upgrade(self) -> None:
        for file in FILES:
            SqliteDatabase(self._folder, file).close()
        self._files.clear()
        self._find_tables()

    def all(self, query: str) -> list[Any]:
        (table,) = re.findall(r"FROM (\w+)", query)[:1]
        with closing(sqlite3.connect(self._folder / f"{self._files[table]}.db")) as connection:
            return connection.execute(query).fetchall()

    def columns(self) -> dict[str, list[str]]:
        columns = {}
        for table, file in self._files.items():
            with closing(sqlite3.connect(self._folder / f"{file}.db")) as connection:
                columns[table] = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        del columns["sqlite_sequence"]
        return columns

    def entries(self) -> int:
        with closing(SqliteDatabase(self._folder, "directory")) as database:
            return len(run_sync(sqlite_store(database, inline, Briefs("1"), ["imported"]).current("", 1_000)))


class PostgresPlace(Place):
    def __init__(self, release: str, conninfo: str, connection: psycopg.Connection[Any]) -> None:
        super().__init__(release)
        self._conninfo = conninfo
        self._connection = connection
        connection.execute(read(release, "postgres").encode())
        connection.execute("SELECT pg_catalog.set_config('search_path', 'public', false)")

    def upgrade(self) -> None:
        with closing(PostgresDatabase(self._conninfo)) as database:
            assert run_sync(database.upgrade())

    def all(self, query: str) -> list[Any]:
        rows = self._connection.execute(query.encode()).fetchall()
        return [tuple(int(value) if isinstance(value, bool) else value for value in row) for row in rows]

    def columns(self) -> dict[str, list[str]]:
        columns: dict[str, list[str]] = {}
        for table, column in self._connection.execute(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'"
        ):
            columns.setdefault(table, []).append(column)
        return columns

    def entries(self) -> int:
        with closing(PostgresDatabase(self._conninfo)) as database:
            return len(run_sync(postgres_store(database, inline, Briefs("1"), ["imported"]).current("", 1_000)))


def read(release: str, engine: str) -> str:
    """Return the statements that make the database of a release."""
    return gzip.decompress((FOLDER / f"{release}.{engine}.sql.gz").read_bytes()).decode()


def quoted(columns: Sequence[str]) -> str:
    return ", ".join(f'"{column}"' for column in columns)


@pytest.fixture(params=["sqlite", "postgres"])
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=[FIRST, SECOND])
def place(request: pytest.FixtureRequest, engine: str, tmp_path: Path) -> Iterator[Place]:
    """Return the database that a release has made."""
    if engine == "sqlite":
        yield SqlitePlace(request.param, tmp_path)
        return
    with created("release") as conninfo, psycopg.connect(conninfo, autocommit=True) as connection:
        yield PostgresPlace(request.param, conninfo, connection)


def follower(name: str, column: str, table: str, seq: str = "") -> Callable[[Rows], Rows]:
    """Return what a table becomes whose row was the position of a follower."""

    def become(rows: Rows) -> Rows:
        row = rows[table][0]
        head = max(change["seq"] for change in rows["change"])
        (log,) = rows["log"]
        return {
            "follower": [
                {"name": name, "log": log["id"], "seq": row[seq] if seq else head, "version": row[column], "holder": ""}
            ]
        }

    return become


def without(table: str, *columns: str) -> Callable[[Rows], Rows]:
    """Return what a table becomes that loses `columns`."""
    return lambda rows: {table: [{key: row[key] for key in row if key not in columns} for row in rows[table]]}


def request(kind: str, text: str, decision: str, at: float | None, created_at: float, **values: Any) -> Rows:
    """Return the rows of a request with its first event, and with that of a `decision` at a time."""
    common = {"kind": kind, "place": "", "account": None, "created_at": created_at, "updated_at": at or created_at}
    stored = {**common, "state": decision if at else "open", **values}
    first = (stored["id"], 0, created_at, "requested", stored["account"], text)
    events = [first, (stored["id"], 1, at, decision, None, "")] if at else [first]
    return {"request": [stored], "request_event": [dict(zip(EVENT, event, strict=True)) for event in events]}


EVENT = ("request", "number", "at", "kind", "account", "text")

REQUEST = ("id", "kind", "subject", "place", "account", "state", "created_at", "updated_at")
"""Columns that are compared; `tests/tables/test_upgrades.py` compares the details, whose JSON has another form."""


def reports(rows: Rows) -> Rows:
    return joined(
        request(
            "report", row["text"], "closed", row["closed_at"], row["reported_at"], id=row["id"], subject=row["mcp_id"]
        )
        for row in rows["report"]
    )


def quota_requests(rows: Rows) -> Rows:
    return joined(
        request(
            "quota",
            row["reason"],
            "declined" if row["granted"] is None else "approved",
            row["decided_at"],
            row["requested_at"],
            id=f"q{row['account']}",
            subject=row["account"],
            account=row["account"],
        )
        for row in rows["quota_request"]
    )


def list_requests(rows: Rows) -> Rows:
    kinds = {True: "version", False: "list"}
    stored = [
        {**row, "kind": kinds[row["waits_for"] != ""], "subject": row["name"], "place": row["list"]}
        for row in rows["list_request"]
    ]
    return {"request": stored, "request_event": [*rows["list_request_event"]]}


def joined(parts: Iterable[Rows]) -> Rows:
    rows: Rows = {"request": [], "request_event": []}
    for part in parts:
        for table, added in part.items():
            rows[table] += added
    return rows


def note(row: Row, kind: str, **values: Any) -> Row:
    """Return the note of `kind` on the entry of `row`."""
    return {"mcp_id": row["mcp_id"], "kind": kind, "other": "", "reason": "", "since": 0.0, "body": None} | values


def checked(rows: Rows) -> Rows:
    """Return what the verification of entries becomes, with notes for the index."""
    notes = [
        note(row, kind, body=body, body_id=body_id)
        for row in rows["verification"]
        for kind, body, body_id in (("checks", row["indexed"], None), ("texts", None, row.get("texts")))
        if body or body_id
    ]
    return {"note": notes, **without("verification", "indexed", "texts")(rows)}


BECOMES: Mapping[str, Callable[[Rows], Rows]] = {
    "accepted_marks": lambda rows: {
        "note": [note(row, "accepted", reason=row["accepted"], body_id=None) for row in rows["accepted_marks"]]
    },
    "entry_flag": lambda rows: {"note": [note(row, **row, body_id=None) for row in rows["entry_flag"]]},
    "package_texts": lambda rows: {"note_body": rows["package_texts"]},
    "verification": checked,
    "applied_policy": follower("rules of the policy", "rules", "applied_policy"),
    "embedding_model": without("embedding_model", "log", "seq", "holder", "until"),
    **dict.fromkeys(("lease", "webhook_reader", "webhook_entry", "webhook_change"), lambda rows: {}),
    "report": reports,
    "quota_request": quota_requests,
    "list_request": list_requests,
    "list_request_event": lambda rows: {},
    "verification_plan": follower("targets of checks", "selection", "verification_plan", "seq"),
}
"""The rows that those of tables become which later steps drop or change."""

OWN = {"schema_step", "applied_step"}
"""Tables of the upgrade itself."""


def expected(place: Place, before: Rows) -> Rows:
    """Return the rows that there should be after the upgrade."""
    rows: Rows = {}
    for table, stored in before.items():
        if table in BECOMES:
            for other, others in BECOMES[table](before).items():
                rows.setdefault(other, []).extend(others)
        elif table not in OWN:
            name, names = now_named(table, list(stored[0]) if stored else [])
            rows[name] = [dict(zip(names, row.values(), strict=True)) for row in stored]
    rows["request"] = [{column: row[column] for column in REQUEST} for row in rows["request"]]
    rows["request_event"] = [{column: row[column] for column in EVENT} for row in rows["request_event"]]
    # A step counts look-ups of keys as outdated, and, in SQLite, triggers do.
    del rows["pulse"]
    if place.release == FIRST:
        # Its imports were the operator's own entries, and so curated.
        imported = {row["name"] for row in rows["record"] if row["source"] == "local"}
        assert len(imported) == ENTRIES
        for row in [*rows["record"], *rows["stored"]]:
            row["source"] = row["source"].replace("local", "imported")
        for row in rows["entry"]:
            row["curated"] = 0 if row["name"] in imported else row["curated"]
    return rows


def test_all_rows_are_upgraded(place: Place) -> None:
    before = place.rows()
    assert {table for table, rows in before.items() if not rows} == set()
    wanted = expected(place, before)
    place.upgrade()
    after = place.rows()
    for table, rows in wanted.items():
        assert len(rows) == len(after[table]), table
        columns = list(rows[0])
        present = [tuple(row[column] for column in columns) for row in after[table]]
        assert in_order(present) == in_order([tuple(row.values()) for row in rows]), table
    assert place.entries() == ENTRIES

"""Make the databases of this folder: `python -m tests.tables.releases.make NAME CHECKOUT ENTRIES`.

CHECKOUT is a checkout of the revision NAME, whose software makes them. ENTRIES is a file of entries, which it imports.
Each table that is then empty gets two rows of values that its types and constraints allow.
"""

from __future__ import annotations

import gzip
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg

from ... import engines

FOLDER = Path(__file__).parent

COMMAND = "from directory_server.cli.main import main; main()"

FILES = ("directory", "quota", "statistics")

VALUES: dict[str, tuple[Any, Any]] = {
    "state": ("open", "closed"),
    "kind": ("added", "changed"),
    "namespaces": ('["x/*"]', "[]"),
    "groups": ('["a"]', "[]"),
}
"""Values of columns that are more than a text or a number."""


def fill(tables: dict[str, list[tuple[str, str, str]]], insert: Any, first: Any, is_empty: Any) -> None:
    """Write two rows to each empty table: columns have a name, a type and the table that they refer to, or ""."""
    for table, columns in tables.items():
        if not is_empty(table):
            continue
        for number in range(1 if any(name == "id" and "int" in kind for name, kind, _ in columns) else 2):
            insert(table, {name: value_of(table, name, kind, of, number, first) for name, kind, of in columns})


def value_of(table: str, name: str, kind: str, of: str, number: int, first: Any) -> Any:
    """Return the value of a column in row `number`."""
    if of or name == "mcp_id":
        return first(of or "entry", number)
    if name in VALUES and kind == "text":
        return VALUES[name][number]
    if kind in ("blob", "bytea"):
        return b'{"a":%d}' % number
    if kind in ("real", "double precision"):
        return 1_700_000_000.5 + number
    if kind == "boolean":
        return number == 0
    return number + 1 if "int" in kind else f"{table} {name} {number}"


def run(checkout: Path, *arguments: str, script: str = COMMAND, **variables: str) -> None:
    """Run a command of the software in `checkout`, or a script."""
    environ = os.environ | {"PYTHONPATH": str(checkout)} | variables
    subprocess.run([sys.executable, "-c", script, *arguments], env=environ, cwd=checkout, check=True)


def make_sqlite(checkout: Path, entries: Path, folder: Path) -> str:
    """Return the statements of the files of a data directory, each after a line with its name."""
    run(checkout, "--data-dir", str(folder), "import", str(entries))
    opening = (
        "from directory_server.sqlite import Database; from pathlib import Path; Database(Path({!r}), 'statistics')"
    )
    run(checkout, script=opening.format(str(folder)))
    parts = []
    for file in FILES:
        with closing(sqlite3.connect(folder / f"{file}.db", isolation_level=None)) as connection:
            fill_sqlite(connection)
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            parts.append(
                f"-- file: {file}\n" + "\n".join([*connection.iterdump(), f"PRAGMA user_version = {version};"])
            )
    return "\n".join(parts)


def fill_sqlite(connection: sqlite3.Connection) -> None:
    def columns(table: str) -> list[tuple[str, str, str]]:
        keys = {row[3]: row[2] for row in connection.execute(f"PRAGMA foreign_key_list({table})")}
        rows = connection.execute(f"PRAGMA table_info({table})")
        return [(row[1], row[2].lower(), keys.get(row[1], "")) for row in rows]

    def insert(table: str, row: dict[str, Any]) -> None:
        names = ", ".join(f'"{name}"' for name in row)
        connection.execute(f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(row))})", [*row.values()])

    def first(table: str, number: int) -> Any:
        key = next(row[1] for row in connection.execute(f"PRAGMA table_info({table})") if row[5])
        return connection.execute(f"SELECT {key} FROM {table} ORDER BY {key} LIMIT 1 OFFSET {number}").fetchone()[0]

    def is_empty(table: str) -> bool:
        return connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() is None

    names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    fill(in_order({name: columns(name) for (name,) in names.fetchall()}), insert, first, is_empty)


def in_order(tables: dict[str, list[tuple[str, str, str]]]) -> dict[str, list[tuple[str, str, str]]]:
    """Return `tables`, each after those that it refers to."""
    ordered: dict[str, list[tuple[str, str, str]]] = {}
    while len(ordered) < len(tables):
        for table, columns in tables.items():
            if all(of in ordered or of in ("", table) for _, _, of in columns):
                ordered.setdefault(table, columns)
    return ordered


def make_postgres(checkout: Path, entries: Path, engine: engines.Engine) -> str:
    """Return the statements of a database."""
    run(checkout, "import", str(entries), DIRECTORY_SERVER_DATABASE=engine.conninfo)
    with psycopg.connect(engine.conninfo, autocommit=True) as connection:
        fill_postgres(connection)
    binaries = engines.binaries()
    assert binaries is not None
    dump = [str(binaries / "pg_dump"), "--inserts", "--no-owner", "--no-privileges", "--dbname", engine.conninfo]
    text = subprocess.run(dump, capture_output=True, text=True, check=True).stdout
    return "\n".join(line for line in text.splitlines() if line and not re.match(r"--|\\|SET |CREATE SCHEMA", line))


def fill_postgres(connection: psycopg.Connection[Any]) -> None:
    keys = {
        (table, column): of
        for table, column, of in connection.execute(
            "SELECT conrelid::regclass::text, attname, confrelid::regclass::text FROM pg_constraint "
            "JOIN pg_attribute ON attrelid = conrelid AND attnum = conkey[1] WHERE contype = 'f'"
        )
    }
    tables: dict[str, list[tuple[str, str, str]]] = {}
    for table, column, kind in connection.execute(
        "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'public' "
        "ORDER BY table_name, ordinal_position"
    ):
        tables.setdefault(table, []).append((column, kind, keys.get((table, column), "")))

    def insert(table: str, row: dict[str, Any]) -> None:
        names = ", ".join(f'"{name}"' for name in row)
        values = ", ".join(["%s"] * len(row))
        connection.execute(f"INSERT INTO {table} ({names}) VALUES ({values})".encode(), [*row.values()])

    def first(table: str, number: int) -> Any:
        key = tables[table][0][0]
        row = connection.execute(
            f"SELECT {key} FROM {table} ORDER BY {key} LIMIT 1 OFFSET {number}".encode()
        ).fetchone()
        assert row is not None
        return row[0]

    def is_empty(table: str) -> bool:
        return connection.execute(f"SELECT 1 FROM {table} LIMIT 1".encode()).fetchone() is None

    fill(in_order(tables), insert, first, is_empty)


def main(name: str, checkout: Path, entries: Path) -> None:
    """Write the files of the revision `name`."""
    with tempfile.TemporaryDirectory() as folder:
        texts = {"sqlite": make_sqlite(checkout, entries, Path(folder))}
    engine = engines.new_engine()
    try:
        texts["postgres"] = make_postgres(checkout, entries, engine)
    finally:
        engine.close()
    for kind, text in texts.items():
        (FOLDER / f"{name}.{kind}.sql.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]).absolute(), Path(sys.argv[3]).absolute())

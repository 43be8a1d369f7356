"""Databases of earlier releases, and schemas as rows that compare: tables, columns, indexes, constraints, functions."""

from __future__ import annotations

import re
import sqlite3
from typing import Any

import psycopg

from directory_server.postgres._migrations import _FORMER_TABLE
from directory_server.upgrades import former_steps

Schema = dict[str, list[Any]]

_POSTGRES = {
    "columns": """
        SELECT table_name, column_name, data_type, collation_name, is_nullable, column_default, is_identity
        FROM information_schema.columns WHERE table_schema = 'public'
    """,
    "indexes": "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'",
    "constraints": """
        SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = 'public'::regnamespace
    """,
    "triggers": "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal",
    "functions": "SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace",
    "tables": """
        SELECT relname, relkind::text, relpersistence::text, reloptions FROM pg_class
        WHERE relnamespace = 'public'::regnamespace
    """,
}


def postgres_schema(connection: psycopg.Connection[Any]) -> Schema:
    """Return the schema of a PostgreSQL database."""
    return {name: sorted(connection.execute(query).fetchall(), key=repr) for name, query in _POSTGRES.items()}


def sqlite_schema(connection: sqlite3.Connection) -> Schema:
    """Return the schema of a file of SQLite."""
    tables = "FROM pragma_table_list WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    names = [name for (name,) in connection.execute(f"SELECT name {tables}")]
    schema: Schema = {"tables": connection.execute(f"SELECT name, wr, strict {tables}").fetchall()}
    for name in names:
        schema["tables"] += [
            (name, column, kind.upper(), required, _default(default), key)
            for _, column, kind, required, default, key in connection.execute(f"PRAGMA table_info({name})")
        ]
        keys = connection.execute(f"PRAGMA foreign_key_list({name})")
        schema["tables"] += [(name, *key[2:]) for key in keys]
    for kind, name, table, sql in connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema"):
        schema.setdefault(kind, []).append((table, *(() if kind == "table" else (name,)), _text(kind, sql or "")))
    return {kind: sorted(rows, key=repr) for kind, rows in schema.items()}


def _default(default: str | None) -> str | None:
    return {"FALSE": "0", "TRUE": "1"}.get((default or "").upper(), default)


def _text(kind: str, sql: str) -> Any:
    """Return what `PRAGMA table_info` does not tell of a table; of others all."""
    if kind == "table":
        rules = re.findall(r"CHECK \(.*?\)+|UNIQUE(?: \([^)]*\))?|AUTOINCREMENT", sql)
        return sorted(rules)
    return " ".join(sql.split())


def make_former_sqlite(connection: sqlite3.Connection, file: str, number: int) -> None:
    """Bring an empty file of SQLite to step `number` of an earlier release."""
    for script in former_steps("sqlite", file)[:number]:
        connection.executescript(script)
    connection.execute(f"PRAGMA user_version = {number}")
    connection.commit()


def make_former_postgres(connection: psycopg.Connection[Any], number: int) -> None:
    """Bring an empty PostgreSQL database to step `number` of an earlier release."""
    connection.execute(_FORMER_TABLE.encode())
    for step, script in enumerate(former_steps("postgres")[:number], 1):
        connection.execute(script.encode())
        connection.execute("INSERT INTO schema_step (number, needs) VALUES (%s, 1)", (step,))

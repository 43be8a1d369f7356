"""Upgrades of a SQLite file to the schema of this version, in one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..domain.errors import NEWER_SCHEMA, Unavailable
from ..tables import (
    ADD_APPLIED,
    APPLIED,
    READ_APPLIED,
    SUPERSEDED,
    Applied,
    Step,
    known_steps,
    missing_steps,
    sqlite_script,
    sqlite_statement,
)
from ..upgrades import former_steps

_HAS_STEPS = "SELECT 1 FROM sqlite_schema WHERE name = 'applied_step'"


def upgrade(connection: sqlite3.Connection, path: Path, file: str) -> None:
    """Run the missing steps of the file of SQLite at `path`. Raises Unavailable if it needs newer software."""
    if not missing(connection, path, file):
        # Nothing to write, so there is no need to wait for a write transaction of another process.
        return
    connection.execute("BEGIN IMMEDIATE")
    if not connection.execute(_HAS_STEPS).fetchone():
        _begin(connection, path, file)
    for step in missing(connection, path, file):
        run_script(connection, sqlite_script(step.scripts[file]))
        _mark(connection, [step])
    connection.execute("COMMIT")


def missing(connection: sqlite3.Connection, path: Path, file: str) -> Sequence[Step]:
    """Return the steps that the file at `path` lacks. Raises Unavailable if it needs newer software."""
    steps = [step for step in known_steps("sqlite") if file in step.scripts]
    return missing_steps(steps, applied(connection), path)


def applied(connection: sqlite3.Connection) -> Sequence[Applied]:
    """Return the steps that the file has; none if it is new or older."""
    return connection.execute(READ_APPLIED).fetchall() if connection.execute(_HAS_STEPS).fetchone() else []


def run_script(connection: sqlite3.Connection, script: str) -> None:
    """Run the statements of `script` within the transaction."""
    for statement in _statements(script):
        connection.execute(statement)


def _begin(connection: sqlite3.Connection, path: Path, file: str) -> None:
    """Bring a file of an earlier release to step 0 of all owners, and prepare the record of steps."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    former = former_steps("sqlite", file)
    if version > len(former):
        raise Unavailable(
            f"{path} was written by a newer version of the directory server: its schema is number {version}, "
            f"this version knows {len(former)}. Install the newer version or choose another data directory.",
            code=NEWER_SCHEMA,
        )
    run_script(connection, sqlite_script(APPLIED))
    if version:
        for script in former[version:]:
            run_script(connection, script)
        _mark(connection, [step for step in known_steps("sqlite") if step.number == 0 and file in step.scripts])
    connection.execute(f"PRAGMA user_version = {SUPERSEDED}")


def _mark(connection: sqlite3.Connection, steps: Sequence[Step]) -> None:
    connection.executemany(sqlite_statement(ADD_APPLIED)[0], [step.values for step in steps])


def _statements(script: str) -> Iterator[str]:
    # executescript() would commit first and release the lock.
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""

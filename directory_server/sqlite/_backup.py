"""Copies of the databases of a data directory, made while servers write to them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from ..domain.errors import BadInput
from ._availability import unavailable


def copy_database(source: Path, target: Path) -> None:
    """Copy one moment of the database at `source` to the new file `target`, which has no other files beside it.

    Raises Unavailable.
    """
    try:
        with (
            closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=rw", uri=True)) as database,
            closing(sqlite3.connect(target)) as copy,
        ):
            # In one step: a copy in several steps begins again after each commit of another process.
            database.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.DatabaseError as error:
        raise unavailable(source, error) from error


def check_database(path: Path) -> None:
    """Read the whole database at `path`. Raises BadInput if it is damaged."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            problems = [text for (text,) in database.execute("PRAGMA integrity_check(1)")]
            if problems == ["ok"]:
                problems = [f"a row of {table} refers to none" for table, *_ in database.execute(_FOREIGN_KEYS)]
    except sqlite3.DatabaseError as error:
        raise BadInput(f"{path} is damaged: {error}.") from error
    if problems and problems != ["ok"]:
        raise BadInput(f"{path} is damaged: {problems[0]}.")


_FOREIGN_KEYS = "SELECT * FROM pragma_foreign_key_check LIMIT 1"

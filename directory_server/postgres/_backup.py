"""Dumps of a database by the programs of PostgreSQL."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import psycopg
from psycopg.pq import Conninfo

from ..domain.errors import BadInput, Unavailable
from ._connection import connect, parameters

TIMEOUT = 6 * 3_600.0
"""Seconds that a program may take."""

_LOCK_TIMEOUT = "60s"
"""How long pg_dump waits for tables that another session locks, as an upgrade does."""

_TABLES = "SELECT count(*) FROM pg_catalog.pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"


def dump_database(conninfo: str, target: Path) -> None:
    """Write one moment of the database to the new file `target`, in the custom format. Raises Unavailable."""
    _run(
        conninfo,
        "pg_dump",
        "--format=custom",
        "--no-password",
        f"--lock-wait-timeout={_LOCK_TIMEOUT}",
        f"--file={target}",
    )


def check_dump(path: Path) -> None:
    """Read the whole dump at `path`. Raises Unavailable if it is damaged."""
    _run("", "pg_restore", "--file=-", str(path))


def load_dump(conninfo: str, path: Path) -> None:
    """Restore the dump at `path` into the empty database, in one transaction.

    Raises BadInput if the database has tables, and Unavailable; nothing is changed then.
    """
    try:
        with connect(parameters(conninfo)) as connection:
            count = connection.execute(_TABLES).fetchall()[0][0]
    except psycopg.Error as error:
        raise Unavailable(str(error).strip()) from None
    if count:
        raise BadInput(
            f"The database is not empty: it has {count} tables. Create an empty one with createdb, and let the setting "
            "database name it."
        )
    _run(
        conninfo,
        "pg_restore",
        *("--exit-on-error", "--single-transaction", "--no-owner", "--no-privileges", "--no-password"),
        *("--dbname=", str(path)),
    )


def _run(conninfo: str, program: str, *arguments: str) -> None:
    """Run a program of PostgreSQL on the database. Raises BadInput without the program, Unavailable if it fails."""
    given = parameters(conninfo)
    # Other users of the machine can read arguments, which must not have a password.
    variables = {
        option.envvar.decode(): str(given[option.keyword.decode()])
        for option in Conninfo.get_defaults()
        if option.envvar and given.get(option.keyword.decode())
    }
    try:
        result = subprocess.run(
            [program, *arguments],
            env=os.environ | variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
            timeout=TIMEOUT,
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(
            f"{program} took more than {TIMEOUT / 3_600:g} hours and was stopped. Run it yourself for a database of "
            "this size: see 'Back up and restore' in docs/operations.md."
        ) from None
    except OSError as error:
        raise BadInput(f"{program} cannot be run: {error.strerror}. Install the client of PostgreSQL.") from None
    if result.returncode:
        lines = result.stderr.decode(errors="replace").strip().splitlines() or [f"exit code {result.returncode}"]
        # Later lines say what follows from the first error.
        raise Unavailable(f"{program} failed: {next((line for line in lines if 'error:' in line), lines[-1])}")

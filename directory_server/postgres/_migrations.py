"""Migrations of the schema, under a lock that all processes take, and which software a schema still works with."""

from __future__ import annotations

from collections.abc import Sequence

from ..domain.errors import Unavailable
from ..tables import (
    ADD_APPLIED,
    APPLIED,
    NEEDS,
    READ_APPLIED,
    SUPERSEDED,
    Step,
    known_steps,
    missing_steps,
    postgres_script,
    postgres_statement,
)
from ..upgrades import former_steps
from ._connection import Cursor

OLDEST_POSTGRES = 15
"""The oldest supported major version of PostgreSQL."""

LOCK = "SELECT pg_advisory_xact_lock(0, 2)"
"""Lock of a migration, until the end of the transaction. (0, 1) is the lock of publishers."""

# What earlier releases read: they do not work on a schema with a step that needs more steps than they know.
_FORMER_TABLE = """
    CREATE TABLE IF NOT EXISTS schema_step (
        number integer PRIMARY KEY,
        needs integer NOT NULL,
        at double precision NOT NULL DEFAULT extract(epoch FROM clock_timestamp())
    )
"""

_IS_NEW = "SELECT to_regclass('schema_step') IS NULL"

_LATEST = "SELECT coalesce(max(number), 0) FROM schema_step"

_FORMER = "INSERT INTO schema_step (number, needs) VALUES ($1, $2) ON CONFLICT DO NOTHING"

_HAS_STEPS = "SELECT to_regclass('applied_step') IS NOT NULL"

_SERVER = "SELECT current_setting('server_version_num')::int / 10000, current_setting('server_encoding')"


def missing(cursor: Cursor) -> Sequence[Step]:
    """Return the steps that the database lacks.

    Raises Unavailable if this software cannot work with the database: too old a server, another encoding than UTF-8, or
    a schema that needs newer software.
    """
    _check_server(cursor)
    applied = cursor.all(READ_APPLIED) if cursor.one(_HAS_STEPS)[0] else []
    return missing_steps(known_steps("postgres"), applied, "the database")


def migrate(cursor: Cursor) -> Sequence[str]:
    """Run the missing steps in the transaction of `cursor`; return their names. Raises Unavailable as above.

    The caller sets a `lock_timeout`. A process that waited for another one's migration finds nothing left to do.
    """
    _check_server(cursor)
    cursor.execute(LOCK)
    former = [] if cursor.one(_HAS_STEPS)[0] else _begin(cursor)
    steps = missing(cursor)
    for step in steps:
        for script in step.scripts.values():
            _run(cursor, postgres_script(script))
    _mark(cursor, steps)
    if any(step.needs for step in steps):
        cursor.execute(_FORMER, (SUPERSEDED, SUPERSEDED))
    return [*former, *map(str, steps)]


def _begin(cursor: Cursor) -> Sequence[str]:
    """Bring a database of an earlier release to step 0 of all owners; return the numbers of the steps that were run."""
    is_new = cursor.one(_IS_NEW)[0]
    cursor.execute(_FORMER_TABLE)
    (latest,) = cursor.one(_LATEST)
    former = list(enumerate(former_steps("postgres"), 1))
    for number, script in former[latest:]:
        if not is_new:
            _run(cursor, script)
        needs = NEEDS.match(script)
        assert needs is not None
        cursor.execute(_FORMER, (number, int(needs[1])))
    _run(cursor, postgres_script(APPLIED))
    if is_new:
        return []
    _mark(cursor, [step for step in known_steps("postgres") if step.number == 0])
    return [str(number) for number, _ in former[latest:]]


def _run(cursor: Cursor, script: str) -> None:
    # Without parameters and binary results, psycopg sends all statements of a script in one message.
    cursor.execute(script, binary=False)


def _mark(cursor: Cursor, steps: Sequence[Step]) -> None:
    statement, names = postgres_statement(ADD_APPLIED)
    cursor.execute(statement, [[step.values[name] for step in steps] for name in names])


def _check_server(cursor: Cursor) -> None:
    version, encoding = cursor.one(_SERVER)
    if version < OLDEST_POSTGRES:
        raise Unavailable(f"PostgreSQL {OLDEST_POSTGRES} or newer is needed; the server is PostgreSQL {version}.")
    if encoding != "UTF8":
        raise Unavailable(
            f"The database must have the encoding UTF8, not {encoding}. "
            "Create it with: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0"
        )

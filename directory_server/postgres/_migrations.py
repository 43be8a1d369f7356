"""Migrations of the schema, under a lock that all processes take, and which software a schema still works with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib.resources import files

from attrs import frozen

from ..domain.errors import NEWER_SCHEMA, Unavailable
from ._connection import Cursor

OLDEST_POSTGRES = 15
"""The oldest supported major version of PostgreSQL."""

LOCK = "SELECT pg_advisory_xact_lock(0, 2)"
"""Lock of a migration, until the end of the transaction. (0, 1) is the lock of publishers."""

_NEEDS = re.compile(r"-- needs: (\d+)\n")

_STEPS_TABLE = """
    CREATE TABLE IF NOT EXISTS schema_step (
        number integer PRIMARY KEY,
        needs integer NOT NULL,
        at double precision NOT NULL DEFAULT extract(epoch FROM clock_timestamp())
    )
"""

_HAS_STEPS = "SELECT to_regclass('schema_step') IS NOT NULL"

_LATEST = "SELECT coalesce(max(number), 0), coalesce(max(needs), 0) FROM schema_step"

_DONE = "INSERT INTO schema_step (number, needs) VALUES ($1, $2)"

_SERVER = "SELECT current_setting('server_version_num')::int / 10000, current_setting('server_encoding')"


@frozen
class Step:
    """A migration to schema `number`. Software that knows fewer than `needs` steps does not work on it."""

    number: int
    needs: int
    script: str


def known_steps() -> Sequence[Step]:
    """Return the migrations of this version of the software, in order."""
    return list(_read_steps())


def _read_steps() -> Iterator[Step]:
    scripts = sorted(
        (file for file in files(__package__).joinpath("schema").iterdir() if file.name.endswith(".sql")),
        key=lambda file: file.name,
    )
    for number, file in enumerate(scripts, 1):
        script = file.read_text("utf-8")
        needs = _NEEDS.match(script)
        if needs is None or not file.name.startswith(f"{number:03}_"):
            raise ValueError(f"{file.name}: must be step {number} and begin with a line '-- needs: N'")
        yield Step(number, int(needs[1]), script)


def is_current(cursor: Cursor, steps: Sequence[Step]) -> bool:
    """Return whether the database has all `steps`.

    Raises Unavailable if this software cannot work with the database: too old a server, another encoding than UTF-8, or
    a schema that needs newer software.
    """
    _check_server(cursor)
    if not cursor.one(_HAS_STEPS)[0]:
        return False
    latest, needs = cursor.one(_LATEST)
    if needs > len(steps):
        raise Unavailable(
            f"A newer version of the directory server has upgraded the database: its schema is number {latest} and "
            f"needs software that knows number {needs}; this version knows {len(steps)}. Install the newer version.",
            code=NEWER_SCHEMA,
        )
    return bool(latest >= len(steps))


def migrate(cursor: Cursor, steps: Sequence[Step]) -> Sequence[int]:
    """Run the missing `steps` in the transaction of `cursor`; return their numbers. Raises Unavailable as above.

    The caller sets a `lock_timeout`. A process that waited for another one's migration finds nothing left to do.
    """
    _check_server(cursor)
    cursor.execute(LOCK)
    if is_current(cursor, steps):
        return []
    cursor.execute(_STEPS_TABLE)
    latest, _ = cursor.one(_LATEST)
    missing = steps[latest:]
    for step in missing:
        # Without parameters and binary results, psycopg sends all statements of a script in one message.
        cursor.execute(step.script, binary=False)
        cursor.execute(_DONE, (step.number, step.needs))
    return [step.number for step in missing]


def _check_server(cursor: Cursor) -> None:
    version, encoding = cursor.one(_SERVER)
    if version < OLDEST_POSTGRES:
        raise Unavailable(f"PostgreSQL {OLDEST_POSTGRES} or newer is needed; the server is PostgreSQL {version}.")
    if encoding != "UTF8":
        raise Unavailable(
            f"The database must have the encoding UTF8, not {encoding}. "
            "Create it with: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0"
        )

"""Moving the content of another store into an empty database, in one transaction, and comparing both."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import zip_longest
from secrets import token_bytes

import psycopg

from ..domain.entries import is_storable, storable
from ..domain.errors import BadInput
from ..domain.transfers import Export, ExportedTable, Imported, Restored
from ..tables import PUBLISHERS
from ._connection import Cursor
from ._database import Database
from ._pulse import end_keys

Row = tuple[object, ...]

ROWS, BYTES = 5_000, 8_000_000
"""Rows and bytes of documents after which a COPY statement ends. Triggers keep its rows until then."""

_BOOLEAN = 16
"""The object id of the type boolean (pg_type.dat)."""

_SEQUENCES = """
    SELECT relname, attname, pg_get_serial_sequence(relname, attname)
    FROM pg_attribute JOIN pg_class ON attrelid = pg_class.oid
    WHERE attidentity <> '' AND relnamespace = 'public'::regnamespace
    UNION ALL SELECT 'record', 'written', 'written'
"""
"""Tables, columns, and the sequences that number them."""

_SHARE = """
    INSERT INTO shared (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""

REPLACEABLE = {"record": {"version"}, "upstream": {"etag", "modified", "progress_cursor"}}
"""Columns by table whose NULs are replaced by U+FFFD: texts of upstreams, which older releases did not check.

The document of a record stays as it was published. Nothing refers to rows by these columns.
"""

_STORED = "SELECT source, names, bytes FROM stored ORDER BY source"


async def import_data(source: Export, database: Database) -> Imported:
    """Move the content of `source` into the empty `database`; return what was imported.

    Ids, numbers of changes, secrets and spent quota stay the same. Either everything is imported or nothing. Raises
    BadInput if the database is not empty, if it cannot hold a text, or if it does not return what was written; raises
    Unavailable if it cannot be used. The schema must be that of this version. A NUL in REPLACEABLE columns is replaced.
    """
    return await database.write(partial(_import, source=source))


def _import(cursor: Cursor, source: Export) -> Imported:
    cursor.unlimit()
    # It sends and reads tables at its own pace, and has not abandoned the transaction.
    cursor.execute("SET LOCAL application_name = 'directory-server import'")
    names = [table.name for table in source.tables]
    # No other process may write between the check and the commit. The order is that of all writers: publishers first.
    cursor.execute(PUBLISHERS)
    cursor.execute(f"LOCK TABLE {', '.join(names)} IN SHARE ROW EXCLUSIVE MODE")
    _check_empty(cursor, [name for name in names if name != "log"])
    cursor.execute("DELETE FROM log")
    replaced: list[str] = []
    counts = {table.name: _copy(cursor, table, replaced) for table in source.tables}
    cursor.execute(_SHARE, (SESSION_SECRET, source.session_secret))
    for name, column, sequence in cursor.all(_SEQUENCES):
        cursor.execute(f"SELECT setval('{sequence}', max({column})) FROM {name} HAVING max({column}) IS NOT NULL")
    cursor.execute("ANALYZE")
    for table in source.tables:
        # Closed at once, because the connection cannot even roll back while rows are being read.
        with closing(_read(cursor, table)) as rows:
            _compare(table.name, (_storable(table, row) for row in table.rows()), rows)
    _compare("stored", source.stored, cursor.all(_STORED))
    # Running processes may have cached look-ups of keys.
    end_keys(cursor)
    return Imported(counts, replaced)


def _check_empty(cursor: Cursor, names: Sequence[str]) -> None:
    for name in names:
        if cursor.one(f"SELECT 1 FROM {name} LIMIT 1"):
            raise BadInput(
                f"The database is not empty: its table {name} has rows. Import into a new database, and start servers "
                "only after the import."
            )


def _copy(cursor: Cursor, table: ExportedTable, replaced: list[str]) -> int:
    """Write the rows of `table`; return their number. Add a line to `replaced` for each text that is changed."""
    types = _types(cursor, table)
    count = 0
    try:
        for chunk in _chunks(_row(table, types, row, replaced) for row in table.rows()):
            with cursor.copy(f"COPY {table.name} ({', '.join(table.columns)}) FROM STDIN (FORMAT BINARY)") as copy:
                copy.set_types(types)
                for row in chunk:
                    copy.write_row(row)
            count += len(chunk)
    except psycopg.errors.UniqueViolation as error:
        # Only a replaced text can make two rows the same.
        raise BadInput(
            f"{table.name}: two rows are the same after NUL was replaced: {error.diag.message_detail} Delete one of "
            "them, then import again."
        ) from None
    return count


def _chunks(rows: Iterable[Row]) -> Iterator[list[Row]]:
    chunk: list[Row] = []
    size = 0
    for row in rows:
        chunk.append(row)
        size += sum(len(value) for value in row if isinstance(value, bytes))
        if len(chunk) >= ROWS or size >= BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _types(cursor: Cursor, table: ExportedTable) -> list[int]:
    """Return the object ids of the types of the columns."""
    description = cursor.execute(f"SELECT {', '.join(table.columns)} FROM {table.name} LIMIT 0").description
    return [column.type_code for column in description or ()]


def _row(table: ExportedTable, types: Sequence[int], row: Row, replaced: list[str]) -> Row:
    """Return `row` as the database holds it. Raises BadInput for a text that it cannot hold."""
    stored = _storable(table, row)
    for column, before, after in zip(table.columns, row, stored, strict=True):
        if before != after:
            name = row[table.columns.index("name")]
            replaced.append(f"{table.name} {name!r}: the {column} {before!r} is stored as {after!r}")
    return tuple(
        bool(value) if kind == _BOOLEAN and value is not None else value
        for kind, value in zip(types, stored, strict=True)
    )


def _storable(table: ExportedTable, row: Row) -> Row:
    """Return `row` without NUL in REPLACEABLE columns. Raises BadInput for a NUL in another column."""
    if all(is_storable(value) for value in row if isinstance(value, str)):
        return row
    return tuple(_storable_value(table, column, value, row) for column, value in zip(table.columns, row, strict=True))


def _storable_value(table: ExportedTable, column: str, value: object, row: Row) -> object:
    if not isinstance(value, str) or is_storable(value):
        return value
    if column in REPLACEABLE.get(table.name, ()):
        return storable(value)
    raise BadInput(
        f"{table.name}: the {column} of {row[: table.key]!r} has a NUL, which PostgreSQL cannot hold. Delete the row, "
        "then import again."
    )


def _read(cursor: Cursor, table: ExportedTable) -> Generator[Row, None, None]:
    types, columns = _types(cursor, table), ", ".join(table.columns)
    query = f"SELECT {columns} FROM {table.name} ORDER BY {', '.join(table.columns[: table.key])}"
    with cursor.copy(f"COPY ({query}) TO STDOUT (FORMAT BINARY)") as copy:
        copy.set_types(types)
        yield from copy.rows()


def _compare(name: str, expected: Iterable[Row], rows: Iterable[Row]) -> None:
    # True equals 1.
    for number, (one, other) in enumerate(zip_longest(expected, rows), 1):
        if one != other:
            raise BadInput(f"Nothing was imported: row {number} of the table {name} is not as it was written.")


SIZE = 32
"""Bytes of the secret."""

SESSION_SECRET = "session secret"
"""The name of the secret."""

_READ = "SELECT value FROM shared WHERE name = $1"

_CREATE = "INSERT INTO shared (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING"


async def session_secret(database: Database) -> bytes:
    """Return the session secret of the database; create it if it does not exist. Raises Unavailable.

    Of processes that start together, one creates the secret, and all return it.
    """
    row = await database.read(lambda cursor: cursor.one(_READ, SESSION_SECRET))
    if row is None:
        await database.run(_CREATE, SESSION_SECRET, token_bytes(SIZE))
        row = await database.read(lambda cursor: cursor.one(_READ, SESSION_SECRET))
    return bytes(row[0])


_NEW_LOG = "UPDATE log SET id = left(replace(gen_random_uuid()::text, '-', ''), 12)"

_VALID = """
    SELECT api_key.id, label || ', ends in ' || last_four
    FROM api_key JOIN secret ON key_id = api_key.id AND secret.expires_at IS NULL
    WHERE revoked_at IS NULL
        AND (api_key.expires_at IS NULL OR api_key.expires_at > extract(epoch FROM clock_timestamp()))
    ORDER BY api_key.created_at, api_key.ordinal
"""


async def after_restore(database: Database) -> Restored:
    """Give the change log of a restored `database` a new id, and end its sessions and links. Raises Unavailable."""

    def write(cursor: Cursor) -> Restored:
        cursor.execute(_NEW_LOG)
        sessions = cursor.execute("DELETE FROM session").rowcount
        links = cursor.execute("DELETE FROM link").rowcount
        cursor.execute("DELETE FROM new_secret")
        cursor.execute("UPDATE identity SET role = NULL")
        keys = [(key_id, text) for key_id, text in cursor.all(_VALID)]
        end_keys(cursor)
        return Restored(sessions, links, keys)

    return await database.write(write)

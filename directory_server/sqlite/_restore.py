"""After a restore: revoke access that is valid only in the backup."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from secrets import token_hex

from ..domain.errors import BadInput
from ..domain.transfers import Restored
from ._availability import unavailable
from ._database import Database
from ._migrations import applied

_KEYS = """
    SELECT id, label || ', ends in ' || last_four FROM api_key JOIN secret ON key_id = id AND secret.expires_at IS NULL
    WHERE {condition}
"""

_VALID = """
    revoked_at IS NULL AND (api_key.expires_at IS NULL OR api_key.expires_at > CAST(strftime('%s', 'now') AS INTEGER))
"""

_TOKENS = """
    SELECT id, label || ', ends in ' || last_four FROM {table} WHERE {condition}
"""

_REVOKE = """
    UPDATE {table} SET revoked_at = (SELECT revoked_at FROM temp.newer_{table} AS newer WHERE newer.id = {table}.id)
    WHERE revoked_at IS NULL
    AND id IN (SELECT newer.id FROM temp.newer_{table} AS newer WHERE newer.revoked_at IS NOT NULL)
"""


_COPIED = {
    "api_key": "id, label, revoked_at",
    "secret": "digest, key_id, last_four, created_at, expires_at",
    "account": "id, password, disabled_at, role",
}
"""The columns that are read from a newer database. Of tables of tokens these are `id` and `revoked_at`."""

_TOKEN_TABLES = """
    SELECT tables.name FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
    WHERE tables.type = 'table' AND columns.name IN ('label', 'last_four', 'revoked_at')
    GROUP BY tables.name HAVING count(*) = 3 ORDER BY tables.name DESC
"""
"""Tables with these columns have tokens, of the kernel or of a feature."""


def after_restore(database: Database, newer: Path | None) -> Restored:
    """Give the change log of a restored `database` a new id, and end its sessions and links.

    `newer` is the database from before the restore, if it can still be read: keys and tokens that are revoked there,
    secrets that were replaced, accounts that are disabled or no longer operators, and changed passwords are carried
    over. Accounts that are
    deleted there are disabled. Raises BadInput
    for a file that is not one, and Unavailable; nothing is changed then.
    """
    with database.connection() as connection:
        tokens = [table for (table,) in connection.execute(_TOKEN_TABLES)]
    copied = _COPIED | dict.fromkeys(tokens, "id, revoked_at")
    rows = {} if newer is None else _read(newer, database, copied)
    with database.transaction() as connection:
        for table, columns in copied.items():
            connection.execute(f"CREATE TEMP TABLE newer_{table} ({columns})")
            places = ", ".join("?" * len(columns.split(",")))
            connection.executemany(f"INSERT INTO newer_{table} VALUES ({places})", rows.get(table, []))
        try:
            return _finish(connection, tokens, is_compared=newer is not None)
        finally:
            for table in copied:
                connection.execute(f"DROP TABLE temp.newer_{table}")


def _finish(connection: sqlite3.Connection, token_tables: Sequence[str], *, is_compared: bool) -> Restored:
    connection.execute("UPDATE log SET id = ?", (token_hex(6),))
    revoked = "revoked_at IS NULL AND id IN (SELECT id FROM temp.newer_{0} WHERE revoked_at IS NOT NULL)"
    keys = _all(connection, _KEYS.format(condition=revoked.format("api_key")))
    tokens = [
        token
        for table in token_tables
        for token in _all(connection, _TOKENS.format(table=table, condition=revoked.format(table)))
    ]
    disabled = "disabled_at IS NULL AND id IN (SELECT id FROM temp.newer_account WHERE disabled_at IS NOT NULL)"
    if is_compared:
        # Accounts that were deleted since the backup.
        disabled += " OR disabled_at IS NULL AND id NOT IN (SELECT id FROM temp.newer_account)"
    accounts = _all(connection, f"SELECT id, email FROM account WHERE {disabled}")
    for table in ("api_key", *token_tables):
        connection.execute(_REVOKE.format(table=table))
    connection.execute(
        "UPDATE account SET disabled_at = coalesce((SELECT disabled_at FROM temp.newer_account AS newer "
        f"WHERE newer.id = account.id), CAST(strftime('%s', 'now') AS REAL)) WHERE {disabled}"
    )
    connection.execute(
        "UPDATE account SET role = 'member' WHERE id IN (SELECT id FROM temp.newer_account WHERE role = 'member')"
    )
    # As sessions end, the next sign-in gives the roles of issuers again.
    connection.execute("UPDATE identity SET role = NULL")
    return Restored(
        sessions=connection.execute("DELETE FROM session").rowcount,
        links=connection.execute("DELETE FROM link").rowcount,
        revoked_keys=keys,
        revoked_tokens=tokens,
        disabled_accounts=accounts,
        retired_secrets=_carry_secrets(connection),
        passwords=connection.execute(
            "UPDATE account SET password = (SELECT password FROM temp.newer_account AS newer "
            "WHERE newer.id = account.id) WHERE id IN (SELECT newer.id FROM temp.newer_account AS newer "
            "WHERE newer.password IS NOT account.password)"
        ).rowcount,
        unknown_keys=_all(
            connection,
            "SELECT id, label FROM temp.newer_api_key WHERE revoked_at IS NULL AND id NOT IN (SELECT id FROM api_key)",
        ),
        valid_keys=_all(
            connection,
            _KEYS.format(condition=_VALID),
        ),
    )


def _carry_secrets(connection: sqlite3.Connection) -> int:
    """End the secrets that were replaced since the backup; import their replacements."""
    connection.execute("DELETE FROM new_secret")
    retired = connection.execute(
        "UPDATE secret SET expires_at = (SELECT expires_at FROM temp.newer_secret AS newer "
        "WHERE newer.digest = secret.digest) WHERE expires_at IS NULL AND digest IN "
        "(SELECT digest FROM temp.newer_secret WHERE expires_at IS NOT NULL)"
    ).rowcount
    connection.execute(
        "INSERT OR IGNORE INTO secret (digest, key_id, last_four, created_at, expires_at) "
        "SELECT digest, key_id, last_four, created_at, expires_at FROM temp.newer_secret "
        "WHERE key_id IN (SELECT id FROM api_key)"
    )
    return retired


def _read(path: Path, database: Database, copied: Mapping[str, str]) -> dict[str, list[tuple[object, ...]]]:
    """Return the rows of a newer database that are carried over."""
    with database.connection() as connection:
        steps = sorted(applied(connection))
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as newer:
            if sorted(applied(newer)) != steps:
                raise BadInput(f"{path} has another version's schema than the restored database.")
            return {table: newer.execute(f"SELECT {rows} FROM {table}").fetchall() for table, rows in copied.items()}
    except sqlite3.DatabaseError as error:
        raise unavailable(path, error) from error


def _all(connection: sqlite3.Connection, query: str) -> list[tuple[str, str]]:
    return [(str(identity), str(text)) for identity, text in connection.execute(query)]

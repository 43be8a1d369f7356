"""Values that all processes share: the secret that signs MCP sessions."""

from __future__ import annotations

from secrets import token_bytes

from ._connection import Cursor
from ._database import Database

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
    found = await database.read(lambda cursor: cursor.one(_READ, SESSION_SECRET))
    if found is None:

        def write(cursor: Cursor) -> object:
            cursor.execute(_CREATE, (SESSION_SECRET, token_bytes(SIZE)))
            return cursor.one(_READ, SESSION_SECRET)

        found = await database.write(write)
    return bytes(found[0])

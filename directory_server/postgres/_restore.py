"""After a restore: end sessions and links, and give the log another id."""

from __future__ import annotations

from ..domain.transfers import Restored
from ._connection import Cursor
from ._database import Database
from ._pulse import end_keys

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
        keys = [(key_id, text) for key_id, text in cursor.all(_VALID)]
        end_keys(cursor)
        return Restored(sessions, links, keys)

    return await database.write(write)

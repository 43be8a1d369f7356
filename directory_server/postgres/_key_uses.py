"""The KeyUses on PostgreSQL."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence

from attrs import frozen

from ..domain.clients import Client
from ..domain.entries import is_storable
from ..domain.keys import KeyUse
from ._connection import Cursor
from ._database import Database

# Keys that another transaction deletes are skipped. Processes that record together lock the rows in the order of the
# ids, so a record waits for other records only, and never in a circle.
_LOCK = """
    SELECT id FROM api_key WHERE id = ANY($1::text[]) AND revoked_at IS NULL ORDER BY id FOR KEY SHARE SKIP LOCKED
"""

_INSERT = """
    INSERT INTO key_use (key_id, at, network, client)
    SELECT * FROM unnest($1::text[], $2::float8[], $3::text[], $4::text[]) ORDER BY 1
    ON CONFLICT (key_id) DO UPDATE SET at = excluded.at, network = excluded.network, client = excluded.client
    WHERE excluded.at >= key_use.at
"""

_LIST = "SELECT key_id, at, network, client FROM key_use"

_OWNED = f"{_LIST} JOIN api_key ON api_key.id = key_id WHERE owner = $1"

_FORGET = """
    DELETE FROM key_use WHERE key_id IN (SELECT key_id FROM key_use WHERE at <= $1 FOR UPDATE SKIP LOCKED)
"""


@frozen
class PostgresKeyUses:
    """Last uses in the database."""

    _database: Database

    async def record(self, uses: Sequence[KeyUse]) -> None:
        by_id = {use.key_id: use for use in uses if is_storable(use.key_id)}

        def write(cursor: Cursor) -> None:
            found = [by_id[key_id] for (key_id,) in cursor.all(_LOCK, sorted(by_id))]
            columns = zip(*((use.key_id, use.at, use.client.network, use.client.name) for use in found), strict=True)
            if found:
                cursor.execute(_INSERT, tuple(map(builtins.list, columns)))

        if by_id:
            await self._database.write(write)

    async def list(self, owner: str | None = None) -> Mapping[str, KeyUse]:
        if owner is None:
            rows = await self._database.read(lambda cursor: cursor.all(_LIST))
        elif is_storable(owner):
            rows = await self._database.read(lambda cursor: cursor.all(_OWNED, owner))
        else:
            rows = []
        return {key_id: KeyUse(key_id, at, Client(network, name)) for key_id, at, network, name in rows}

    async def forget(self, before: float) -> None:
        await self._database.write(lambda cursor: cursor.execute(_FORGET, (before,)))

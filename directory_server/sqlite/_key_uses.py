"""The KeyUses on SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from attrs import frozen

from ..domain.clients import Client
from ..domain.keys import KeyUse
from ..domain.ports.runtime import Offload
from ..run_sync import inline
from ._database import Database

_RECORD = """
    INSERT INTO key_use (key_id, at, network, client)
    SELECT id, ?2, ?3, ?4 FROM api_key WHERE id = ?1 AND revoked_at IS NULL
    ON CONFLICT (key_id) DO UPDATE SET at = excluded.at, network = excluded.network, client = excluded.client
    WHERE excluded.at >= key_use.at
"""

_LIST = "SELECT key_id, at, network, client FROM key_use"

_OWNED = f"{_LIST} JOIN api_key ON api_key.id = key_id WHERE owner = ?"

_FORGET = "DELETE FROM key_use WHERE at <= ?"

_OLD = "SELECT 1 FROM key_use WHERE at <= ? LIMIT 1"


@frozen
class SqliteKeyUses:
    """Last uses in the data directory; `offload` runs writes, which may block."""

    _database: Database
    _offload: Offload = inline

    async def record(self, uses: Sequence[KeyUse]) -> None:
        rows = [(use.key_id, use.at, use.client.network, use.client.name) for use in uses]

        def write(connection: sqlite3.Connection) -> None:
            connection.executemany(_RECORD, rows)

        await self._offload(self._database.write, write)

    async def list(self, owner: str | None = None) -> Mapping[str, KeyUse]:
        query, arguments = (_LIST, ()) if owner is None else (_OWNED, (owner,))
        rows = await self._database.read(lambda connection: connection.execute(query, arguments).fetchall())
        return {key_id: KeyUse(key_id, at, Client(network, name)) for key_id, at, network, name in rows}

    async def forget(self, before: float) -> None:
        """Delete old uses. Do not write if there are none: a write makes all processes look for changes."""
        if await self._database.read(lambda connection: connection.execute(_OLD, (before,)).fetchone()):
            await self._offload(self._database.write, lambda connection: connection.execute(_FORGET, (before,)))

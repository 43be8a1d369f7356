"""The KeyUses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen

from ..domain.keys import Client, KeyUse
from ._tables import Row, Rows, Tables

# Keys that another transaction deletes are skipped. Processes that record together lock the rows in the order of the
# ids, so a record waits for other records only, and never in a circle.
_LOCK = """
    SELECT id FROM api_key WHERE id = ANY(:ids) AND revoked_at IS NULL ORDER BY id FOR KEY SHARE SKIP LOCKED
"""

_RECORD = """
    INSERT INTO key_use (key_id, at, network, client)
    SELECT key_id, at, network, client FROM input(key_id text, at double precision, network text, client text)
    WHERE true
    ON CONFLICT (key_id) DO UPDATE SET at = excluded.at, network = excluded.network, client = excluded.client
    WHERE excluded.at >= key_use.at
"""

_LIST = "SELECT key_id, at, network, client FROM key_use"

_OWNED = f"{_LIST} JOIN api_key ON api_key.id = key_id WHERE owner = :owner"

_OF = f"{_LIST} WHERE key_id = ANY(:ids)"

_OLD = "SELECT 1 FROM key_use WHERE at <= :before LIMIT 1"

_FORGET = """
    DELETE FROM key_use WHERE key_id IN (SELECT key_id FROM key_use WHERE at <= :before FOR UPDATE SKIP LOCKED)
"""


@frozen
class StoredKeyUses:
    """The last use of each key, for the owner of the key. Nothing depends on it: a lost record is harmless."""

    _tables: Tables

    async def record(self, uses: Sequence[KeyUse]) -> None:
        """Store the last uses of different keys. Ignore one that is older than the stored one, or of no valid key."""
        by_id = {use.key_id: use for use in uses}

        def write(rows: Rows) -> None:
            recorded = [by_id[key_id] for (key_id,) in rows.all(_LOCK, ids=sorted(by_id))]
            rows.many(_RECORD, [_row(use) for use in recorded])

        if by_id:
            await self._tables.write(write)

    async def list(self, owner: str) -> Mapping[str, KeyUse]:
        """Return the last uses of all keys of `owner`, by the ids of the keys."""
        return _uses(await self._tables.all(_OWNED, owner=owner))

    async def of(self, key_ids: Sequence[str]) -> Mapping[str, KeyUse]:
        """Return the last uses of some keys, by the ids of the keys."""
        return _uses(await self._tables.select(_OF, ids=key_ids))

    async def forget(self, before: float) -> None:
        """Delete the uses at `before` (seconds since the epoch) or earlier."""
        # A write makes all processes on SQLite look for changes.
        if await self._tables.one(_OLD, before=before):
            await self._tables.write(lambda rows: rows.execute(_FORGET, before=before))


def _uses(rows: Sequence[Row]) -> Mapping[str, KeyUse]:
    return {key_id: KeyUse(key_id, at, Client(network, name)) for key_id, at, network, name in rows}


def _row(use: KeyUse) -> dict[str, object]:
    return {"key_id": use.key_id, "at": use.at, "network": use.client.network, "client": use.client.name}

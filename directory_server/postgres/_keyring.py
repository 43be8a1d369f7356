"""The KeyRing on PostgreSQL."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence

from ..domain.entries import is_storable
from ..domain.errors import NotFound, TooManyKeys
from ..domain.keys import (
    CACHED,
    COUNTED_AFTER_END,
    ApiKey,
    check_grace,
    check_label,
    check_limit,
    check_new_key,
    check_rotation,
    digest,
    is_key_secret,
    new_id,
    new_key_secret,
    newest_half,
)
from ._connection import Cursor
from ._database import Database
from ._link import Statements
from ._pipeline import Row
from ._pulse import PULSE, Pulse, end_keys

_CREATE = "INSERT INTO api_key (id, label, quota, created_at, expires_at, owner) VALUES ($1, $2, $3, $4, $5, $6)"

_LOCK_OWNER = "SELECT 1 FROM account WHERE id = $1 FOR UPDATE"

# `least` ignores NULL.
_COUNT = """
    SELECT count(*) FROM api_key WHERE owner = $1 AND coalesce(least(revoked_at, expires_at), $2) > $2 - $3::float8
"""

_ADD_SECRET = "INSERT INTO secret (digest, key_id, last_four, created_at) VALUES ($1, $2, $3, $4)"

# The last field: the keys of a pending account share one quota, which is charged to the account.
FIELDS = """
    api_key.id, label, current.last_four, quota, api_key.created_at, api_key.expires_at, revoked_at, owner,
    (SELECT account.id FROM account WHERE account.id = owner AND approved_at IS NULL)
"""

# `last_four` is of the current secret, also while an older one is still valid.
FROM = "FROM api_key JOIN secret AS current ON current.key_id = api_key.id AND current.expires_at IS NULL"

_KEY = f"SELECT {FIELDS} {FROM}"

_LIVE = """
    revoked_at IS NULL AND (api_key.expires_at IS NULL OR api_key.expires_at > $2::float8)
    AND (owner IS NULL OR EXISTS (SELECT 1 FROM account WHERE account.id = owner AND disabled_at IS NULL))
"""

_FIND = f"""
    SELECT {FIELDS}, given.expires_at, {PULSE} {FROM} JOIN secret AS given ON given.key_id = api_key.id
    WHERE given.digest = $1::bytea AND (given.expires_at IS NULL OR given.expires_at > $2::float8) AND {_LIVE}
"""

_GET = f"{_KEY} WHERE api_key.id = $1"

_LOCK = "SELECT 1 FROM api_key WHERE id = $1 FOR UPDATE"

_IN_ORDER = "ORDER BY api_key.created_at, api_key.ordinal"

_LIST = f"{_KEY} {_IN_ORDER}"

_OWNED = f"{_KEY} WHERE owner = $1 {_IN_ORDER}"

_RENAME = "UPDATE api_key SET label = $2 WHERE id = $1"

_SET_LIMIT = "UPDATE api_key SET quota = $2 WHERE id = $1"

_REVOKE = "UPDATE api_key SET revoked_at = coalesce(revoked_at, $2) WHERE id = $1"

_RETIRE = "UPDATE secret SET expires_at = least(expires_at, $2) WHERE key_id = $1"

_REPLACED = """
    SELECT key_id, max(secret.expires_at) FROM api_key JOIN secret ON key_id = api_key.id
    WHERE owner = $1 AND secret.expires_at > $2::float8 GROUP BY key_id
"""

_LIVE_IDS = f"SELECT id FROM api_key WHERE id = ANY($1::text[]) AND {_LIVE}"

# A UNION, so that each part uses its index.
_ENDED = """
    SELECT id FROM api_key WHERE revoked_at > $1::float8
    UNION SELECT id FROM api_key WHERE expires_at > $1::float8 AND expires_at <= $2::float8
    UNION SELECT api_key.id FROM account JOIN api_key ON owner = account.id WHERE disabled_at > $1::float8
"""


class PostgresKeyRing:
    """API keys in the database. `now` is in seconds since the epoch.

    Look-ups of secrets go to `statements`, other look-ups to `reads`, both by default to `database`. With a `pulse`,
    look-ups are cached until the key may have ended: a revoked key ends at once in this process, and within a second in
    others.
    """

    def __init__(
        self,
        database: Database,
        now: Callable[[], float],
        statements: Statements | None = None,
        reads: Statements | None = None,
        pulse: Pulse | None = None,
    ) -> None:
        self._database = database
        self._now = now
        self._statements = statements or database
        self._reads = reads or database
        self._pulse = pulse
        self._known: dict[bytes, tuple[ApiKey, float, int]] = {}
        self._generation = 0

    async def create(
        self,
        label: str,
        *,
        limit: int | None,
        expires_at: float | None,
        owner: str | None = None,
        most: int | None = None,
    ) -> tuple[ApiKey, str]:
        """Create a key; return it and its secret.

        Raises BadInput for an invalid label, limit or expiry, and TooManyKeys if the owner has `most` keys.
        """
        now = self._now()
        check_new_key(label, limit, expires_at, now)
        key_id, secret = new_id(), new_key_secret()

        def write(cursor: Cursor) -> tuple[ApiKey, str]:
            if most is not None:
                # Of several processes that count, one after the other adds a key.
                cursor.execute(_LOCK_OWNER, (owner,))
                if cursor.one(_COUNT, owner, now, COUNTED_AFTER_END)[0] >= most:
                    raise TooManyKeys(most)
            cursor.execute(_CREATE, (key_id, label, limit, now, expires_at, owner))
            _add_secret(cursor, key_id, secret, now)
            return _get(cursor, key_id), secret

        return await self._database.write(write)

    async def find(self, secret: str) -> ApiKey | None:
        now, given = self._now(), digest(secret)
        pulse = self._pulse
        if pulse is not None and pulse.is_fresh and pulse.generation == self._generation:
            key, end, counter = self._known.get(given, (None, 0.0, 0))
            if key is not None and now < end and pulse.ended.get(key.id, counter) <= counter:
                return key
        if not is_key_secret(secret):
            return None
        reading = None if pulse is None else pulse.begin()
        rows = await self._statements.run(_FIND, given, now)
        if not rows:
            return None
        *fields, replaced_at, keys = rows[0]
        key = ApiKey(*fields)
        if pulse is not None and reading is not None and pulse.confirm(reading, keys, is_poll=False):
            self._keep(pulse, given, key, replaced_at, keys)
        return key

    def _keep(self, pulse: Pulse, given: bytes, key: ApiKey, replaced_at: float | None, counter: int) -> None:
        if pulse.generation != self._generation:
            self._known, self._generation = {}, pulse.generation
        elif len(self._known) >= CACHED:
            self._known = newest_half(self._known)
        self._known[given] = key, min(key.expires_at or math.inf, replaced_at or math.inf), counter

    async def list(self, owner: str | None = None) -> Sequence[ApiKey]:
        rows: Sequence[Row] = []
        if owner is None:
            rows = await self._database.read(lambda cursor: cursor.all(_LIST))
        elif is_storable(owner):
            rows = await self._reads.run(_OWNED, owner)
        return [ApiKey(*row) for row in rows]

    async def rename(self, key_id: str, label: str) -> None:
        check_label(label)

        def write(cursor: Cursor) -> None:
            _lock(cursor, key_id)
            cursor.execute(_RENAME, (key_id, label))
            # Cached keys have the old label.
            end_keys(cursor, [key_id])

        await self._database.write(write)

    async def set_limit(self, key_id: str, limit: int | None) -> None:
        check_limit(limit)

        def write(cursor: Cursor) -> None:
            _lock(cursor, key_id)
            cursor.execute(_SET_LIMIT, (key_id, limit))
            # Cached keys have the old limit.
            end_keys(cursor, [key_id])

        await self._database.write(write)

    async def revoke(self, key_id: str) -> None:
        """Revoke a key; the time of an earlier revocation stays. Raises NotFound."""
        now = self._now()

        def write(cursor: Cursor) -> None:
            _lock(cursor, key_id)
            cursor.execute(_REVOKE, (key_id, now))
            end_keys(cursor, [key_id])

        await self._database.write(write)

    async def rotate(self, key_id: str, *, grace: float) -> tuple[ApiKey, str]:
        """Replace the secret of a key; the old one stays valid for `grace` seconds.

        Raises NotFound, and BadInput for an ended key or an invalid grace.
        """
        now = self._now()
        check_grace(grace)
        secret = new_key_secret()

        def write(cursor: Cursor) -> tuple[ApiKey, str]:
            check_rotation(_lock(cursor, key_id), now)
            cursor.execute(_RETIRE, (key_id, now + grace))
            _add_secret(cursor, key_id, secret, now)
            key = _get(cursor, key_id)
            end_keys(cursor, [key_id])
            return key, secret

        return await self._database.write(write)

    async def replaced(self, owner: str) -> Mapping[str, float]:
        return dict(await self._reads.run(_REPLACED, owner, self._now())) if is_storable(owner) else {}

    async def live(self, key_ids: Collection[str]) -> set[str]:
        asked = [key_id for key_id in key_ids if is_storable(key_id)]
        return {key_id for (key_id,) in await self._reads.run(_LIVE_IDS, asked, self._now())}

    async def ended(self, within: float) -> set[str]:
        now = self._now()
        return {key_id for (key_id,) in await self._reads.run(_ENDED, now - within, now)}


def _lock(cursor: Cursor, key_id: str) -> ApiKey:
    """Return a key whose row is locked until the end of the transaction. Raises NotFound."""
    if is_storable(key_id):
        cursor.execute(_LOCK, (key_id,))
    return _get(cursor, key_id)


def _get(cursor: Cursor, key_id: str) -> ApiKey:
    row = cursor.one(_GET, key_id) if is_storable(key_id) else None
    if row is None:
        raise NotFound(f"No key has the id {key_id!r}.")
    return ApiKey(*row)


def _add_secret(cursor: Cursor, key_id: str, secret: str, now: float) -> None:
    cursor.execute(_ADD_SECRET, (digest(secret), key_id, secret[-4:], now))

"""The KeyRing on SQLite."""

from __future__ import annotations

import builtins
import math
import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

from attrs import field, frozen

from .. import serialization
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
from ..domain.ports.runtime import Offload, Turn
from ..run_sync import inline
from ..turn import ImmediateTurn
from ._database import Database, data_version

_Keys = dict[bytes, tuple[ApiKey, float]]
"""Keys by the digests of their secrets, each with the time when the key or the secret ends."""

_CREATE = "INSERT INTO api_key (id, label, quota, created_at, expires_at, owner) VALUES (?, ?, ?, ?, ?, ?)"

_COUNT = """
    SELECT count(*) FROM api_key WHERE owner = :owner
    AND coalesce(min(revoked_at, expires_at), revoked_at, expires_at, :now) > :now - :afterwards
"""

_ADD_SECRET = "INSERT INTO secret (digest, key_id, last_four, created_at) VALUES (?, ?, ?, ?)"

# The last field: the keys of a pending account share one quota, which is charged to the account.
FIELDS = """
    api_key.id, label, current.last_four, quota, api_key.created_at, api_key.expires_at, revoked_at, owner,
    (SELECT account.id FROM account WHERE account.id = owner AND approved_at IS NULL)
"""

# `last_four` is of the current secret, also while an older one is still valid.
FROM = "FROM api_key JOIN secret AS current ON current.key_id = api_key.id AND current.expires_at IS NULL"

_KEY = f"SELECT {FIELDS} {FROM}"

_LIVE = """
    revoked_at IS NULL AND (api_key.expires_at IS NULL OR api_key.expires_at > :now)
    AND (owner IS NULL OR owner IN (SELECT account.id FROM account WHERE account.id = owner AND disabled_at IS NULL))
"""

_FIND = f"""
    SELECT {FIELDS}, given.expires_at {FROM} JOIN secret AS given ON given.key_id = id
    WHERE given.digest = :digest AND (given.expires_at IS NULL OR given.expires_at > :now) AND {_LIVE}
"""

_GET = f"{_KEY} WHERE id = ?"

_IN_ORDER = "ORDER BY api_key.created_at, api_key.rowid"

_LIST = f"{_KEY} {_IN_ORDER}"

_OWNED = f"{_KEY} WHERE owner = ? {_IN_ORDER}"

_RENAME = "UPDATE api_key SET label = ? WHERE id = ?"

_SET_LIMIT = "UPDATE api_key SET quota = ? WHERE id = ?"

_REVOKE = "UPDATE api_key SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?"

_RETIRE = "UPDATE secret SET expires_at = min(coalesce(expires_at, :end), :end) WHERE key_id = :id"

_REPLACED = """
    SELECT key_id, max(secret.expires_at) FROM api_key JOIN secret ON key_id = api_key.id
    WHERE owner = ? AND secret.expires_at > ? GROUP BY key_id
"""

_LIVE_IDS = f"SELECT id FROM api_key WHERE id IN (SELECT value FROM json_each(:ids)) AND {_LIVE}"

# Triggers count the writes that change or end a key.
_PULSE = "SELECT keys FROM pulse"

# A UNION, so that each part uses its index.
_ENDED = """
    SELECT id FROM api_key WHERE revoked_at > :since
    UNION SELECT id FROM api_key WHERE expires_at > :since AND expires_at <= :now
    UNION SELECT api_key.id FROM account JOIN api_key ON owner = account.id WHERE disabled_at > :since
"""


@frozen
class SqliteKeyRing:
    """API keys in the data directory. `now` is in seconds since the epoch; `offload` runs writes, which may block.

    Look-ups are cached until any process changes or ends a key, so a key that is revoked in one process is rejected by
    all. Whether another process has done so is checked once in each `turn` of the reactor.
    """

    _database: Database
    _now: Callable[[], float]
    _offload: Offload = inline
    _turn: Turn = field(factory=ImmediateTurn)
    _cache: _LookupCache = field(init=False, repr=False)

    @_cache.default
    def _new_cache(self) -> _LookupCache:
        return _LookupCache(self._turn)

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

        def write(connection: sqlite3.Connection) -> tuple[ApiKey, str]:
            if most is not None:
                known = {"owner": owner, "now": now, "afterwards": COUNTED_AFTER_END}
                if connection.execute(_COUNT, known).fetchone()[0] >= most:
                    raise TooManyKeys(most)
            connection.execute(_CREATE, (key_id, label, limit, now, expires_at, owner))
            _add_secret(connection, key_id, secret, now)
            return _get(connection, key_id), secret

        return await self._offload(self._database.write, write)

    async def find(self, secret: str) -> ApiKey | None:
        now, given = self._now(), digest(secret)
        checked = self._cache.checked
        cached = None if checked is None else checked.get(given)
        if cached is not None and now < cached[1]:
            return cached[0]
        if given not in self._cache and not is_key_secret(secret):
            return None
        # The function may run in another thread, which has another connection.
        found = await self._database.read(partial(self._find, given, now, checked))
        self._cache.use_until_end_of_turn()
        return found

    def _find(self, given: bytes, now: float, checked: _Keys | None, connection: sqlite3.Connection) -> ApiKey | None:
        # Keys that were checked in this turn are checked again in the next one, and with them those that are added.
        cached = self._cache.current(connection) if checked is None else checked
        key, end = cached.get(given, (None, 0.0))
        if now < end:
            return key
        row = connection.execute(_FIND, {"digest": given, "now": now}).fetchone()
        if row is None:
            return None
        *fields, replaced_at = row
        key = ApiKey(*fields)
        cached[given] = key, min(key.expires_at or math.inf, replaced_at or math.inf)
        return key

    async def list(self, owner: str | None = None) -> Sequence[ApiKey]:
        def read(connection: sqlite3.Connection) -> Sequence[ApiKey]:
            rows = connection.execute(_LIST) if owner is None else connection.execute(_OWNED, (owner,))
            return [ApiKey(*row) for row in rows]

        return await self._database.read(read)

    async def rename(self, key_id: str, label: str) -> None:
        check_label(label)

        def write(connection: sqlite3.Connection) -> None:
            _get(connection, key_id)
            connection.execute(_RENAME, (label, key_id))

        await self._offload(self._database.write, write)

    async def set_limit(self, key_id: str, limit: int | None) -> None:
        check_limit(limit)

        def write(connection: sqlite3.Connection) -> None:
            _get(connection, key_id)
            connection.execute(_SET_LIMIT, (limit, key_id))

        await self._offload(self._database.write, write)

    async def revoke(self, key_id: str) -> None:
        """Revoke a key; the time of an earlier revocation stays. Raises NotFound."""

        def write(connection: sqlite3.Connection) -> None:
            _get(connection, key_id)
            connection.execute(_REVOKE, (self._now(), key_id))

        await self._offload(self._database.write, write)

    async def rotate(self, key_id: str, *, grace: float) -> tuple[ApiKey, str]:
        """Replace the secret of a key; the old one stays valid for `grace` seconds.

        Raises NotFound, and BadInput for an ended key or an invalid grace.
        """
        now = self._now()
        check_grace(grace)
        secret = new_key_secret()

        def write(connection: sqlite3.Connection) -> tuple[ApiKey, str]:
            check_rotation(_get(connection, key_id), now)
            connection.execute(_RETIRE, {"id": key_id, "end": now + grace})
            _add_secret(connection, key_id, secret, now)
            return _get(connection, key_id), secret

        return await self._offload(self._database.write, write)

    async def replaced(self, owner: str) -> Mapping[str, float]:
        now = self._now()
        return await self._database.read(
            lambda connection: dict(connection.execute(_REPLACED, (owner, now)).fetchall())
        )

    async def live(self, key_ids: Collection[str]) -> set[str]:
        arguments = {"ids": serialization.text(builtins.list(key_ids)), "now": self._now()}
        return await self._database.read(
            lambda connection: {key_id for (key_id,) in connection.execute(_LIVE_IDS, arguments)}
        )

    async def ended(self, within: float) -> set[str]:
        now = self._now()
        arguments = {"since": now - within, "now": now}
        return await self._database.read(
            lambda connection: {key_id for (key_id,) in connection.execute(_ENDED, arguments)}
        )


class _LookupCache:
    """The keys that were looked up, until any connection changes or ends a key."""

    def __init__(self, turn: Turn) -> None:
        self.checked: _Keys | None = None
        """The keys that were valid when a look-up of the current turn read the database; None before that."""
        self._turn = turn
        # One tuple, replaced as a whole, because two threads may look up keys at the same time.
        self._known: tuple[object, int, _Keys] = None, -1, {}

    def __contains__(self, given: bytes) -> bool:
        """Return whether the cache has a key for a digest; it may be out of date."""
        return given in self._known[2]

    def current(self, connection: sqlite3.Connection) -> _Keys:
        """Return the cached keys; none if this or any other connection has changed or ended a key since."""
        # data_version counts the writes of other connections, and is comparable only within one connection. It is read
        # before the counter: a write between the two is noticed by the next look-up.
        version = connection, data_version(connection), connection.total_changes
        known_version, known_pulse, keys = self._known
        if version != known_version or len(keys) > CACHED:
            (pulse,) = connection.execute(_PULSE).fetchone()
            if pulse != known_pulse:
                keys = {}
            elif len(keys) > CACHED:
                keys = newest_half(keys)
            self._known = version, pulse, keys
        return keys

    def use_until_end_of_turn(self) -> None:
        """Set `checked` after a look-up until the end of the turn. Only for the reactor's thread."""
        is_first = self.checked is None
        self.checked = self._known[2]
        if is_first:
            self._turn.at_end(self._forget_checked)

    def _forget_checked(self) -> None:
        self.checked = None


def _get(connection: sqlite3.Connection, key_id: str) -> ApiKey:
    row = connection.execute(_GET, (key_id,)).fetchone()
    if row is None:
        raise NotFound(f"No key has the id {key_id!r}.")
    return ApiKey(*row)


def _add_secret(connection: sqlite3.Connection, key_id: str, secret: str, now: float) -> None:
    connection.execute(_ADD_SECRET, (digest(secret), key_id, secret[-4:], now))

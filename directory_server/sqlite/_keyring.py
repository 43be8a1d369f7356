"""The KeyRing on SQLite."""

from __future__ import annotations

import builtins
import math
import re
import secrets
import sqlite3
import string
from collections.abc import Callable, Collection, Sequence
from functools import partial
from zlib import crc32

from attrs import field, frozen

from .. import serialization
from ..domain.errors import BadInput, NotFound, TooManyKeys
from ..domain.keys import ApiKey
from ..domain.ports.runtime import Offload
from ..domain.secrets import digest, new_id
from ..run_sync import inline
from ._database import Database, data_version

MAX_LABEL = 100
"""Characters of a key's label."""

MAX_LIMIT = 1_000_000_000
"""Requests in any 60 minutes, the largest number that may be set."""

_BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
_SECRET = re.compile(r"(mcpd_[0-9A-Za-z]{32})([0-9A-Za-z]{6})")

AFTERWARDS = 3600.0
"""Seconds for which a key that has ended still counts as one of its owner's, or each new one would bring new quota."""

OPENED = 10_000
"""Secrets of which it is remembered what they open."""

_CREATE = "INSERT INTO api_key (id, label, quota, created_at, expires_at, owner) VALUES (?, ?, ?, ?, ?, ?)"

_COUNT = """
    SELECT count(*) FROM api_key WHERE owner = :owner
    AND coalesce(min(revoked_at, expires_at), revoked_at, expires_at, :now) > :now - :afterwards
"""

_ADD_SECRET = "INSERT INTO secret (digest, key_id, last_four, created_at) VALUES (?, ?, ?, ?)"

# The last field: until an account is approved its keys share one quota, which is charged to the account.
_FIELDS = """
    id, label, current.last_four, quota, api_key.created_at, api_key.expires_at, revoked_at, owner,
    (SELECT account.id FROM account WHERE account.id = owner AND approved_at IS NULL)
"""

# The secret that an operator is shown the end of is the current one, also while an older one still works.
_FROM = "FROM api_key JOIN secret AS current ON current.key_id = id AND current.expires_at IS NULL"

_KEY = f"SELECT {_FIELDS} {_FROM}"

_LIVE = """
    revoked_at IS NULL AND (api_key.expires_at IS NULL OR api_key.expires_at > :now)
    AND (owner IS NULL OR owner IN (SELECT account.id FROM account WHERE account.id = owner AND disabled_at IS NULL))
"""

_FIND = f"""
    SELECT {_FIELDS}, given.expires_at {_FROM} JOIN secret AS given ON given.key_id = id
    WHERE given.digest = :digest AND (given.expires_at IS NULL OR given.expires_at > :now) AND {_LIVE}
"""

_GET = f"{_KEY} WHERE id = ?"

_IN_ORDER = "ORDER BY api_key.created_at, api_key.rowid"

_LIST = f"{_KEY} {_IN_ORDER}"

_OWNED = f"{_KEY} WHERE owner = ? {_IN_ORDER}"

_REVOKE = "UPDATE api_key SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?"

_RETIRE = "UPDATE secret SET expires_at = min(coalesce(expires_at, :end), :end) WHERE key_id = :id"

_LIVE_IDS = f"SELECT id FROM api_key WHERE id IN (SELECT value FROM json_each(:ids)) AND {_LIVE}"


@frozen
class SqliteKeyRing:
    """API keys in the data directory; `now` is seconds since the epoch, and `offload` is where writes may wait.

    What a secret opens is remembered until anybody writes to the database: what one process revokes, no other admits
    again.
    """

    _database: Database
    _now: Callable[[], float]
    _offload: Offload = inline
    _opened: _Opened = field(factory=lambda: _Opened(), init=False, repr=False)

    async def create(
        self,
        label: str,
        *,
        limit: int | None,
        expires_at: float | None,
        owner: str | None = None,
        most: int | None = None,
    ) -> tuple[ApiKey, str]:
        """Make a key; return it and its secret.

        Raises BadInput for a label, limit or end that cannot be, and TooManyKeys where the owner has `most` of them.
        """
        now = self._now()
        if not label.strip() or len(label) > MAX_LABEL or not label.isprintable():
            raise BadInput(f"label: must be 1 to {MAX_LABEL} printable characters.")
        if limit is not None and not 1 <= limit <= MAX_LIMIT:
            raise BadInput(f"limit: must be 1 to {MAX_LIMIT:,} requests in any 60 minutes, or unlimited, not {limit}.")
        if expires_at is not None and not now < expires_at < math.inf:
            raise BadInput("expires_at: must be in the future.")
        key_id, secret = new_id(), _new_secret()

        def write(connection: sqlite3.Connection) -> tuple[ApiKey, str]:
            if most is not None:
                known = {"owner": owner, "now": now, "afterwards": AFTERWARDS}
                if connection.execute(_COUNT, known).fetchone()[0] >= most:
                    raise TooManyKeys(most)
            connection.execute(_CREATE, (key_id, label, limit, now, expires_at, owner))
            _add_secret(connection, key_id, secret, now)
            return _get(connection, key_id), secret

        return await self._offload(self._database.write, write)

    async def find(self, secret: str) -> ApiKey | None:
        now, given = self._now(), digest(secret)
        if given not in self._opened and not _is_well_formed(secret):
            return None
        return await self._database.read(partial(self._find, given, now))

    def _find(self, given: bytes, now: float, connection: sqlite3.Connection) -> ApiKey | None:
        opened = self._opened.now(connection)
        key, end = opened.get(given, (None, 0.0))
        if now < end:
            return key
        row = connection.execute(_FIND, {"digest": given, "now": now}).fetchone()
        if row is None:
            return None
        *fields, replaced_at = row
        key = ApiKey(*fields)
        opened[given] = key, min(key.expires_at or math.inf, replaced_at or math.inf)
        return key

    async def list(self, owner: str | None = None) -> Sequence[ApiKey]:
        def read(connection: sqlite3.Connection) -> Sequence[ApiKey]:
            rows = connection.execute(_LIST) if owner is None else connection.execute(_OWNED, (owner,))
            return [ApiKey(*row) for row in rows]

        return await self._database.read(read)

    async def revoke(self, key_id: str) -> None:
        """End a key now; one that has ended keeps its time. Raises NotFound."""

        def write(connection: sqlite3.Connection) -> None:
            _get(connection, key_id)
            connection.execute(_REVOKE, (self._now(), key_id))

        await self._offload(self._database.write, write)

    async def rotate(self, key_id: str, *, grace: float) -> tuple[ApiKey, str]:
        """Give a key a new secret; the old one works for `grace` seconds more.

        Raises NotFound, and BadInput for a key that has ended or a grace that cannot be.
        """
        now = self._now()
        if not 0 <= grace < math.inf:
            raise BadInput("grace: must be 0 or more seconds.")
        secret = _new_secret()

        def write(connection: sqlite3.Connection) -> tuple[ApiKey, str]:
            key = _get(connection, key_id)
            if key.revoked_at is not None:
                raise BadInput(f"The key {key_id} is revoked and cannot be rotated. Create a new one.")
            if key.expires_at is not None and key.expires_at <= now:
                raise BadInput(f"The key {key_id} has expired and cannot be rotated. Create a new one.")
            connection.execute(_RETIRE, {"id": key_id, "end": now + grace})
            _add_secret(connection, key_id, secret, now)
            return _get(connection, key_id), secret

        return await self._offload(self._database.write, write)

    async def live(self, key_ids: Collection[str]) -> set[str]:
        arguments = {"ids": serialization.text(builtins.list(key_ids)), "now": self._now()}
        return await self._database.read(
            lambda connection: {key_id for (key_id,) in connection.execute(_LIVE_IDS, arguments)}
        )


class _Opened:
    """The keys that secrets have opened, by the digests of these, each with when it or its secret ends."""

    def __init__(self) -> None:
        # One value, for two threads may look things up: what one read of its version must not be taken for another's.
        self._known: tuple[object, dict[bytes, tuple[ApiKey, float]]] = None, {}

    def __contains__(self, given: bytes) -> bool:
        """Return whether a secret has opened a key, which may have changed since."""
        return given in self._known[1]

    def now(self, connection: sqlite3.Connection) -> dict[bytes, tuple[ApiKey, float]]:
        """Return what is still true: nothing once this or any other connection has written."""
        # The version tells of the others, and means nothing to another connection.
        version = connection, data_version(connection), connection.total_changes
        known = self._known
        if version != known[0] or len(known[1]) > OPENED:
            known = self._known = version, {}
        return known[1]


def _get(connection: sqlite3.Connection, key_id: str) -> ApiKey:
    row = connection.execute(_GET, (key_id,)).fetchone()
    if row is None:
        raise NotFound(f"No key has the id {key_id!r}.")
    return ApiKey(*row)


def _add_secret(connection: sqlite3.Connection, key_id: str, secret: str, now: float) -> None:
    connection.execute(_ADD_SECRET, (digest(secret), key_id, secret[-4:], now))


def _new_secret() -> str:
    text = "mcpd_" + "".join(secrets.choice(_BASE62) for _ in range(32))
    return text + _checksum(text)


def _is_well_formed(secret: str) -> bool:
    """Return whether `secret` can be one at all; mistyped and foreign ones are refused without the database."""
    match = _SECRET.fullmatch(secret)
    return match is not None and _checksum(match[1]) == match[2]


def _checksum(text: str) -> str:
    """Return the CRC-32 of `text` as six digits to the base of 62."""
    number, digits = crc32(text.encode()), ""
    for _ in range(6):
        number, digit = divmod(number, 62)
        digits = _BASE62[digit] + digits
    return digits

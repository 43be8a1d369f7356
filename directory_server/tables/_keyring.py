"""The KeyRing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from attrs import Factory, field, frozen

from ..domain.errors import NotFound, TooManyKeys
from ..domain.keys import (
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
    subject_key_id,
)
from ._key_cache import FIELDS, FROM, LIVE, KeyCache, NoCache
from ._tables import Rows, Tables, transaction

_CREATE = """
    INSERT INTO api_key (id, label, quota, created_at, expires_at, owner)
    VALUES (:id, :label, :quota, :created_at, :expires_at, :owner)
"""

_LOCK_OWNER = "SELECT 1 FROM account WHERE id = :owner FOR UPDATE"

_COUNT = """
    SELECT count(*) FROM api_key WHERE owner = :owner AND NOT is_subject
    AND coalesce(least(revoked_at, expires_at), revoked_at, expires_at, :now) > :counted_since
"""

_ADD_SECRET = """
    INSERT INTO secret (digest, key_id, last_four, created_at) VALUES (:digest, :key_id, :last_four, :created_at)
"""

_KEY = f"SELECT {FIELDS} {FROM}"

_GET = f"{_KEY} WHERE api_key.id = :id"

_LOCK = "SELECT 1 FROM api_key WHERE id = :id FOR UPDATE"

_IN_ORDER = "ORDER BY api_key.created_at, api_key.ordinal"

_LIST = f"{_KEY} {_IN_ORDER}"

_OWNED = f"{_KEY} WHERE owner = :owner AND NOT is_subject {_IN_ORDER}"

_KNOWN = "SELECT 1 FROM secret WHERE digest = :digest"

_OWNER = "SELECT account FROM identity WHERE digest = :digest"

_LIMIT = "SELECT key_limit FROM account WHERE id = :owner FOR KEY SHARE"

_CREATE_SUBJECT = """
    INSERT INTO api_key (id, label, quota, created_at, owner, is_subject)
    VALUES (:id, :label, :quota, :created_at, :owner, TRUE) ON CONFLICT (id) DO NOTHING
"""

_ADD_SUBJECT = f"{_ADD_SECRET} ON CONFLICT (digest) DO NOTHING"

_RENAME = "UPDATE api_key SET label = :label WHERE id = :id"

_SET_LIMIT = "UPDATE api_key SET quota = :quota WHERE id = :id"

_REVOKE = "UPDATE api_key SET revoked_at = coalesce(revoked_at, :now) WHERE id = :id"

_RETIRE = "UPDATE secret SET expires_at = least(coalesce(expires_at, :end), :end) WHERE key_id = :id"

_REPLACED = """
    SELECT key_id, max(secret.expires_at) FROM api_key JOIN secret ON key_id = api_key.id
    WHERE owner = :owner AND secret.expires_at > :now GROUP BY key_id
"""

_LIVE_IDS = f"SELECT id FROM api_key WHERE id = ANY(:ids) AND {LIVE}"

# A UNION, so that each part uses its index.
_ENDED = """
    SELECT id FROM api_key WHERE revoked_at > :since
    UNION SELECT id FROM api_key WHERE expires_at > :since AND expires_at <= :now
    UNION SELECT api_key.id FROM account JOIN api_key ON owner = account.id WHERE disabled_at > :since
    UNION SELECT api_key.id FROM account JOIN api_key ON owner = account.id
        WHERE renew_by > :since AND renew_by <= :now AND NOT is_subject
"""


@frozen
class StoredKeyRing:
    """API keys. Only digests of their secrets are stored.

    `now` is in seconds since the epoch. The `cache` looks secrets up.
    """

    _tables: Tables
    _now: Callable[[], float]
    _cache: KeyCache = field(default=Factory(lambda self: NoCache(self._tables), takes_self=True))

    @transaction
    def create(
        self,
        rows: Rows,
        label: str,
        *,
        limit: int | None,
        expires_at: float | None,
        owner: str | None = None,
        most: int | None = None,
    ) -> tuple[ApiKey, str]:
        """Create a key; return it and its secret, which cannot be read again.

        `owner` is the id of an account. Raises BadInput, and TooManyKeys if the owner has `most` keys. A revoked or
        expired key counts for one hour more, so that replacing keys yields no additional quota.
        """
        now = self._now()
        check_new_key(label, limit, expires_at, now)
        key_id, secret = new_id(), new_key_secret()
        row = {"id": key_id, "label": label, "quota": limit, "created_at": now, "expires_at": expires_at}
        if most is not None:
            # Of several processes that count, one after the other adds a key.
            rows.lock(_LOCK_OWNER, owner=owner)
            if rows.one(_COUNT, owner=owner, now=now, counted_since=now - COUNTED_AFTER_END)[0] >= most:
                raise TooManyKeys(most)
        rows.execute(_CREATE, owner=owner, **row)
        _add_secret(rows, key_id, secret, now)
        return _get(rows, key_id), secret

    async def find(self, secret: str) -> ApiKey | None:
        """Return the key that `secret` authenticates as.

        None if it is malformed, unknown, revoked or expired, or its owner is disabled.
        """
        now, given = self._now(), digest(secret)
        key = self._cache.get(given, now)
        if key is not None:
            return key
        # A secret that was one a short time ago needs no check of its format.
        if given not in self._cache and not is_key_secret(secret):
            return None
        return await self._cache.look_up(given, now)

    async def of_subject(self, subject: bytes, label: str, *, limit: int | None) -> ApiKey | None:
        """Return the key of a subject, by the digest of issuer and subject; create it if there is none.

        Its owner is the account that the subject signs in to, if there is one. None if the key was revoked or its owner
        is disabled. `label` and `limit` are those of a new key.
        """
        now = self._now()
        key = self._cache.get(subject, now) or await self._cache.look_up(subject, now)
        if key is not None or await self._tables.one(_KNOWN, digest=subject) is not None:
            return key
        check_new_key(label, limit, None, now)
        row = {"id": subject_key_id(subject), "label": label, "created_at": now}

        def write(rows: Rows) -> None:
            (owner,) = rows.one(_OWNER, digest=subject) or (None,)
            account = None if owner is None else rows.one(_LIMIT, owner=owner)
            quota = limit if account is None or account[0] is None else account[0]
            rows.execute(_CREATE_SUBJECT, quota=quota, owner=None if account is None else owner, **row)
            rows.execute(_ADD_SUBJECT, digest=subject, key_id=row["id"], last_four="", created_at=now)

        await self._tables.write(write)
        return await self._cache.look_up(subject, now)

    async def list(self, owner: str | None = None) -> Sequence[ApiKey]:
        """Return all keys, or all keys with a secret of `owner`, oldest first, including revoked and expired ones."""
        listed = self._tables.select(_LIST) if owner is None else self._tables.all(_OWNED, owner=owner)
        return [ApiKey(*row) for row in await listed]

    async def rename(self, key_id: str, label: str) -> None:
        """Change the label of a key. Raises NotFound, and BadInput for the label."""
        check_label(label)
        await self._change(key_id, _RENAME, label=label)

    async def set_limit(self, key_id: str, limit: int | None) -> None:
        """Change the limit of a key, None for no limit. Raises NotFound, and BadInput for the limit.

        The change counts at once in this process, and within a second in others.
        """
        check_limit(limit)
        await self._change(key_id, _SET_LIMIT, quota=limit)

    async def revoke(self, key_id: str) -> None:
        """Revoke a key: at once in this process, and within a second in others. Raises NotFound.

        The time of an earlier revocation stays.
        """
        await self._change(key_id, _REVOKE, now=self._now())

    @transaction
    def rotate(self, rows: Rows, key_id: str, *, grace: float) -> tuple[ApiKey, str]:
        """Replace the secret of a key; the old one stays valid for `grace` seconds. Raises NotFound and BadInput.

        The id of the key stays, and with it the spent quota and open sessions.
        """
        now, secret = self._now(), new_key_secret()
        check_grace(grace)
        check_rotation(_lock(rows, key_id), now)
        rows.execute(_RETIRE, id=key_id, end=now + grace)
        _add_secret(rows, key_id, secret, now)
        key = _get(rows, key_id)
        rows.end_keys([key_id])
        return key, secret

    async def replaced(self, owner: str) -> Mapping[str, float]:
        """Return when the last replaced secret of each key of `owner` ends; keys without a valid one are left out."""
        return dict(await self._tables.all(_REPLACED, owner=owner, now=self._now()))

    async def live(self, key_ids: Collection[str]) -> set[str]:
        """Return those of `key_ids` that are valid: not revoked, not expired, owner not disabled."""
        return {key_id for (key_id,) in await self._tables.all(_LIVE_IDS, ids=list(key_ids), now=self._now())}

    async def ended(self, within: float) -> set[str]:
        """Return the keys that were revoked or expired, or whose owner was disabled, in the last `within` seconds.

        Keys of a removed account are not among them, but not `live` either.
        """
        now = self._now()
        return {key_id for (key_id,) in await self._tables.all(_ENDED, since=now - within, now=now)}

    @transaction
    def _change(self, rows: Rows, /, key_id: str, statement: str, **values: object) -> None:
        """Run a statement that changes a key, whose cached look-ups then end. Raises NotFound."""
        _lock(rows, key_id)
        rows.execute(statement, id=key_id, **values)
        rows.end_keys([key_id])


def _lock(rows: Rows, key_id: str) -> ApiKey:
    """Return a key whose row is locked until the end of the transaction. Raises NotFound."""
    rows.lock(_LOCK, id=key_id)
    return _get(rows, key_id)


def _get(rows: Rows, key_id: str) -> ApiKey:
    row = rows.one(_GET, id=key_id)
    if row is None:
        raise NotFound(f"No key has the id {key_id!r}.")
    return ApiKey(*row)


def _add_secret(rows: Rows, key_id: str, secret: str, now: float) -> None:
    rows.execute(_ADD_SECRET, digest=digest(secret), key_id=key_id, last_four=secret[-4:], created_at=now)

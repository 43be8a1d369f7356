"""API keys of account owners: create, rotate, revoke, list."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from ..domain.accounts import Account
from ..domain.errors import NotFound
from ..domain.keys import ApiKey, NewSecret
from ..domain.ports.access import KeyRing, Quota
from ..domain.ports.accounts import NewSecrets
from ..domain.quota import Allowance


@frozen
class KeyUsage:
    """A key, its remaining quota, and the time of its last charged request in seconds since the epoch."""

    key: ApiKey
    allowance: Allowance
    last_used: float | None


@frozen
class Pending:
    """Limits of a pending account: at most `keys` keys, which share one quota.

    A pending account that is unused for `unused` seconds is deleted.
    """

    keys: int
    unused: float


@frozen
class UserKeys:
    """Manage the API keys of accounts.

    A key has `limit` requests in any 60 minutes; an account has at most `most` keys. A rotated secret stays valid for
    `grace` seconds. `pending` has the limits of pending accounts. A key of another account raises NotFound.
    """

    _keys: KeyRing
    _quota: Quota
    _new_secrets: NewSecrets
    limit: int | None
    _most: int
    grace: float
    pending: Pending

    async def list(self, owner: Account) -> Sequence[KeyUsage]:
        """Return the keys of an account that are not revoked, oldest first."""
        keys = [key for key in await self._keys.list(owner.id) if key.revoked_at is None]
        return [
            KeyUsage(key, await self._quota.peek(key.quota_id, key.limit), await self._quota.last(key.quota_id))
            for key in keys
        ]

    async def find(self, owner: Account, key_id: str) -> ApiKey:
        """Return a key of an account that is not revoked. Raises NotFound."""
        for key in await self._keys.list(owner.id):
            if key.id == key_id and key.revoked_at is None:
                return key
        raise NotFound(f"None of your keys has the id {key_id[:20]!r}.")

    async def create(self, owner: Account, session: str, label: str, expires_at: float | None) -> ApiKey:
        """Create a key, whose secret `session` can read once. Raises TooManyKeys, and BadInput for the label."""
        most = self._most if owner.approved else min(self._most, self.pending.keys)
        key, secret = await self._keys.create(label, limit=self.limit, expires_at=expires_at, owner=owner.id, most=most)
        await self._new_secrets.put(session, key.id, NewSecret(secret, rotated=False))
        return key

    async def rotate(self, owner: Account, session: str, key_id: str) -> ApiKey:
        """Replace the secret of a key; `session` can read the new one once. Raises NotFound, BadInput if expired."""
        key, secret = await self._keys.rotate((await self.find(owner, key_id)).id, grace=self.grace)
        await self._new_secrets.put(session, key.id, NewSecret(secret, rotated=True))
        return key

    async def read_secret(self, session: str, key: ApiKey) -> NewSecret | None:
        """Return and delete the secret that `create` or `rotate` stored for a session; None if there is none."""
        return await self._new_secrets.take(session, key.id)

    async def revoke(self, owner: Account, key_id: str) -> None:
        """Revoke a key, effective immediately. Raises NotFound."""
        await self._keys.revoke((await self.find(owner, key_id)).id)

"""What the members of a directory do with their own keys."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from .errors import NotFound
from .model import Account, Allowance, ApiKey
from .ports import KeyRing, Quota


@frozen
class KeyInUse:
    """A key, what is left of its quota, and when it last spent some, in seconds since the epoch."""

    key: ApiKey
    allowance: Allowance
    last_used: float | None


@frozen
class OwnKeys:
    """Gives members keys of `limit` requests in any 60 minutes, `most` for each; secrets rotate within `grace` seconds.

    A key of somebody else is not there: NotFound.
    """

    _keys: KeyRing
    _quota: Quota
    _limit: int | None
    _most: int
    grace: float

    async def list(self, owner: Account) -> Sequence[KeyInUse]:
        """Return the keys of a member that are not revoked, oldest first."""
        keys = [key for key in await self._keys.list(owner.id) if key.revoked_at is None]
        return [
            KeyInUse(key, await self._quota.peek(key.id, key.limit), await self._quota.last(key.id)) for key in keys
        ]

    async def find(self, owner: Account, key_id: str) -> ApiKey:
        """Return a key of a member that is not revoked. Raises NotFound."""
        for key in await self._keys.list(owner.id):
            if key.id == key_id and key.revoked_at is None:
                return key
        raise NotFound(f"None of your keys has the id {key_id[:20]!r}.")

    async def create(self, owner: Account, label: str, expires_at: float | None) -> tuple[ApiKey, str]:
        """Make a key; return it and its secret. Raises TooManyKeys, and BadInput for a label that cannot be."""
        return await self._keys.create(label, limit=self._limit, expires_at=expires_at, owner=owner.id, most=self._most)

    async def rotate(self, owner: Account, key_id: str) -> tuple[ApiKey, str]:
        """Give a key a new secret. Raises NotFound, and BadInput for one that has expired."""
        return await self._keys.rotate((await self.find(owner, key_id)).id, grace=self.grace)

    async def revoke(self, owner: Account, key_id: str) -> None:
        """End a key now. Raises NotFound."""
        await self._keys.revoke((await self.find(owner, key_id)).id)

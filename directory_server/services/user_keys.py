"""API keys of account owners: create, rotate, revoke, list."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite

from attrs import frozen

from ..domain.accounts import Account
from ..domain.errors import NotFound
from ..domain.keys import COUNTED_AFTER_END, UNKNOWN, ApiKey, Client, KeyUse, NewSecret
from ..domain.ports.access import Quota
from ..domain.quota import WINDOW, Allowance
from ..tables import StoredKeyRing, StoredKeyUses, StoredNewSecrets


@frozen
class KeyUsage:
    """A key and its remaining quota; the time of its last request in seconds since the epoch, and the client of it.

    A secret that was replaced is valid until `replaced_until`, in seconds since the epoch; None if there is none.
    """

    key: ApiKey
    allowance: Allowance
    last_used: float | None
    client: Client
    replaced_until: float | None


@frozen
class OwnedKeys:
    """The keys of an account that are not revoked, oldest first. The account may have `most` keys.

    If `is_full`, no key can be created. A place becomes free at `free_at`, in seconds since the epoch; None if only a
    revocation frees one.
    """

    keys: Sequence[KeyUsage]
    most: int
    is_full: bool
    free_at: float | None


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

    A key has `limit` requests in any `window` seconds, unless its account has another limit. An account has at most
    `most` keys. A rotated secret stays valid for `grace` seconds. `pending` has the limits of pending accounts. `uses`
    is None if last uses are not stored. `now` is in seconds since the epoch. A key of another account raises NotFound.
    """

    _keys: StoredKeyRing
    _quota: Quota
    new_secrets: StoredNewSecrets
    _uses: StoredKeyUses | None
    _now: Callable[[], float]
    limit: int | None
    _most: int
    grace: float
    pending: Pending
    window: int = WINDOW

    async def list(self, owner: Account) -> OwnedKeys:
        """Return the keys of an account, and whether it can have another one."""
        keys, now, most = await self._keys.list(owner.id), self._now(), self._limit_of(owner)
        uses = await self._uses.list(owner.id) if self._uses else {}
        replaced = await self._keys.replaced(owner.id)
        frees = sorted(key.ended_at + COUNTED_AFTER_END for key in keys if key.counts_at(now))
        is_full = len(frees) >= most
        # Several places must become free if the limit was lowered.
        free_at = frees[len(frees) - most] if is_full and most else None
        return OwnedKeys(
            [await self._usage(key, uses, replaced.get(key.id)) for key in keys if key.revoked_at is None],
            most,
            is_full,
            free_at if free_at is not None and isfinite(free_at) else None,
        )

    async def find(self, owner: Account, key_id: str) -> ApiKey:
        """Return a key of an account that is not revoked. Raises NotFound."""
        for key in await self._keys.list(owner.id):
            if key.id == key_id and key.revoked_at is None:
                return key
        raise NotFound(f"None of your keys has the id {key_id[:20]!r}.")

    async def create(self, owner: Account, session: str, label: str, expires_at: float | None) -> ApiKey:
        """Create a key, whose secret `session` can read once. Raises TooManyKeys, and BadInput for the label."""
        key, secret = await self._keys.create(
            label, limit=owner.key_limit(self.limit), expires_at=expires_at, owner=owner.id, most=self._limit_of(owner)
        )
        await self.new_secrets.put(session, key.id, NewSecret(secret, rotated=False))
        return key

    async def rotate(self, owner: Account, session: str, key_id: str) -> ApiKey:
        """Replace the secret of a key; `session` can read the new one once. Raises NotFound, BadInput if expired."""
        key, secret = await self._keys.rotate((await self.find(owner, key_id)).id, grace=self.grace)
        await self.new_secrets.put(session, key.id, NewSecret(secret, rotated=True))
        return key

    async def rename(self, owner: Account, key_id: str, label: str) -> None:
        """Change the label of a key. Raises NotFound, and BadInput for the label."""
        await self._keys.rename((await self.find(owner, key_id)).id, label)

    async def revoke(self, owner: Account, key_id: str) -> None:
        """Revoke a key, effective immediately. Raises NotFound."""
        await self._keys.revoke((await self.find(owner, key_id)).id)

    def _limit_of(self, owner: Account) -> int:
        return self._most if owner.approved else min(self._most, self.pending.keys)

    async def _usage(self, key: ApiKey, uses: Mapping[str, KeyUse], replaced_until: float | None) -> KeyUsage:
        use = uses.get(key.id)
        times = [] if use is None else [use.at]
        # The time in a shared quota is that of all keys of the account.
        if key.shared is None or self._uses is None:
            charged = await self._quota.last(key.quota_id)
            times += [] if charged is None else [charged]
        allowance = await self._quota.peek(key.quota_id, key.limit)
        client = UNKNOWN if use is None else use.client
        return KeyUsage(key, allowance, max(times, default=None), client, replaced_until)

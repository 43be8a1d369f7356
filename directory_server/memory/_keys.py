"""The KeyRing, the NewSecrets and the RegistryTokens in memory."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Collection, Mapping, Sequence

from attrs import evolve, frozen

from ..domain.errors import NotFound, TooManyKeys
from ..domain.keys import (
    NEW_SECRET_LIFETIME,
    ApiKey,
    KeyUse,
    NewSecret,
    RegistryToken,
    check_grace,
    check_label,
    check_limit,
    check_new_key,
    check_rotation,
    digest,
    is_key_secret,
    new_id,
    new_key_secret,
    new_registry_secret,
)
from ._access import AccessData, SecretRow


@frozen
class MemoryKeyRing:
    """API keys; `now` is in seconds since the epoch."""

    _data: AccessData
    _now: Callable[[], float]

    async def create(
        self,
        label: str,
        *,
        limit: int | None,
        expires_at: float | None,
        owner: str | None = None,
        most: int | None = None,
    ) -> tuple[ApiKey, str]:
        now = self._now()
        check_new_key(label, limit, expires_at, now)
        counted = sum(key.counts_at(now) for key in self._data.keys.values() if key.owner == owner)
        if most is not None and counted >= most:
            raise TooManyKeys(most)
        key = ApiKey(new_id(), label, "", limit, now, expires_at, owner=owner)
        return self._with_new_secret(key)

    async def find(self, secret: str) -> ApiKey | None:
        row = self._data.secrets.get(digest(secret)) if is_key_secret(secret) else None
        if row is None or (row.expires_at is not None and row.expires_at <= self._now()):
            return None
        return self._read(self._data.keys[row.key_id]) if self._is_live(row.key_id) else None

    async def list(self, owner: str | None = None) -> Sequence[ApiKey]:
        return [self._read(key) for key in self._data.keys.values() if owner is None or key.owner == owner]

    async def rename(self, key_id: str, label: str) -> None:
        check_label(label)
        self._data.keys[key_id] = evolve(self._get(key_id), label=label)

    async def set_limit(self, key_id: str, limit: int | None) -> None:
        check_limit(limit)
        self._data.keys[key_id] = evolve(self._get(key_id), limit=limit)

    async def revoke(self, key_id: str) -> None:
        key = self._get(key_id)
        if key.revoked_at is None:
            self._data.keys[key_id] = evolve(key, revoked_at=self._now())

    async def rotate(self, key_id: str, *, grace: float) -> tuple[ApiKey, str]:
        now = self._now()
        check_grace(grace)
        key = self._get(key_id)
        check_rotation(key, now)
        for row in self._data.secrets.values():
            if row.key_id == key_id:
                row.expires_at = now + grace if row.expires_at is None else min(row.expires_at, now + grace)
        return self._with_new_secret(key)

    async def replaced(self, owner: str) -> Mapping[str, float]:
        now = self._now()
        ends: dict[str, float] = {}
        for row in self._data.secrets.values():
            if row.expires_at is not None and row.expires_at > now and self._data.keys[row.key_id].owner == owner:
                ends[row.key_id] = max(row.expires_at, ends.get(row.key_id, 0.0))
        return ends

    async def live(self, key_ids: Collection[str]) -> set[str]:
        return {key_id for key_id in key_ids if self._is_live(key_id)}

    async def ended(self, within: float) -> set[str]:
        now = self._now()
        accounts = self._data.accounts
        disabled = {each for each, row in accounts.items() if (row.disabled_at or -math.inf) > now - within}
        deleted = {key_id for key_id, at in self._data.deleted_keys.items() if at > now - within}
        return deleted | {
            key.id for key in self._data.keys.values() if now - within < key.ended_at <= now or key.owner in disabled
        }

    def _get(self, key_id: str) -> ApiKey:
        key = self._data.keys.get(key_id)
        if key is None:
            raise NotFound(f"No key has the id {key_id!r}.")
        return key

    def _with_new_secret(self, key: ApiKey) -> tuple[ApiKey, str]:
        """Store `key` with a new secret; return the key as stored, and the secret."""
        secret = new_key_secret()
        self._data.secrets[digest(secret)] = SecretRow(key.id)
        self._data.keys[key.id] = evolve(key, last_four=secret[-4:])
        return self._read(self._data.keys[key.id]), secret

    def _read(self, key: ApiKey) -> ApiKey:
        return with_shared_quota(self._data, key)

    def _is_live(self, key_id: str) -> bool:
        key = self._data.keys.get(key_id)
        if key is None or key.ended_at <= self._now():
            return False
        owner = self._data.accounts.get(key.owner or "")
        return key.owner is None or (owner is not None and owner.disabled_at is None)


def with_shared_quota(data: AccessData, key: ApiKey) -> ApiKey:
    """Return `key` with the shared quota of its owner, if that account is pending."""
    owner = data.accounts.get(key.owner or "")
    return evolve(key, shared=owner.id if owner and owner.approved_at is None else None)


@frozen
class MemoryKeyUses:
    """Last uses of keys."""

    _data: AccessData

    async def record(self, uses: Sequence[KeyUse]) -> None:
        stored = self._data.key_uses
        for use in uses:
            known = stored.get(use.key_id)
            key = self._data.keys.get(use.key_id)
            if key and key.revoked_at is None and (known is None or use.at >= known.at):
                stored[use.key_id] = use

    async def list(self, owner: str | None = None) -> Mapping[str, KeyUse]:
        keys, uses = self._data.keys, self._data.key_uses
        return {key_id: use for key_id, use in uses.items() if owner is None or keys[key_id].owner == owner}

    async def forget(self, before: float) -> None:
        self._data.key_uses = {each: use for each, use in self._data.key_uses.items() if use.at > before}


@frozen
class MemoryNewSecrets:
    """New secrets of keys; `now` is in seconds since the epoch."""

    _data: AccessData
    _now: Callable[[], float]

    async def put(self, session: str, key_id: str, new: NewSecret) -> None:
        self._data.new_secrets[digest(session), key_id] = new, self._now() + NEW_SECRET_LIFETIME

    async def take(self, session: str, key_id: str) -> NewSecret | None:
        new, expires_at = self._data.new_secrets.pop((digest(session), key_id), (None, 0.0))
        return new if self._now() < expires_at else None


@frozen
class MemoryRegistryTokens:
    """Tokens of the registry API; `now` is in seconds since the epoch."""

    _data: AccessData
    _now: Callable[[], float]

    async def create(self, label: str) -> tuple[RegistryToken, str]:
        check_label(label)
        secret = new_registry_secret()
        token = RegistryToken(new_id(), label, secret[-4:], self._now(), None)
        self._data.tokens[token.id] = token
        self._data.token_ids[digest(secret)] = token.id
        return token, secret

    async def find(self, secret: str) -> RegistryToken | None:
        token = self._data.tokens.get(self._data.token_ids.get(digest(secret), ""))
        return None if token is None or token.revoked_at is not None else token

    async def list(self) -> Sequence[RegistryToken]:
        return builtins.list(self._data.tokens.values())

    async def revoke(self, token_id: str) -> None:
        token = self._data.tokens.get(token_id)
        if token is None:
            raise NotFound(f"No token has the id {token_id!r}.")
        if token.revoked_at is None:
            self._data.tokens[token_id] = evolve(token, revoked_at=self._now())

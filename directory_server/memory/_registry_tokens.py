"""The RegistryTokens in memory."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence

from attrs import evolve, frozen

from ..domain.errors import NotFound
from ..domain.keys import RegistryToken, check_label
from ..domain.secrets import digest, new_id, new_registry_secret
from ._data import AccessData


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

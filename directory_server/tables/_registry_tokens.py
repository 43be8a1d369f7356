"""The RegistryTokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

from ..domain.errors import NotFound
from ..domain.keys import RegistryToken, check_label, digest, new_id, new_registry_secret
from ._tables import Rows, Tables, transaction

_COLUMNS = "id, label, last_four, created_at, revoked_at"

_CREATE = f"""
    INSERT INTO registry_token (id, label, last_four, digest, created_at)
    VALUES (:id, :label, :last_four, :digest, :created_at) RETURNING {_COLUMNS}
"""

_LIST = f"SELECT {_COLUMNS} FROM registry_token ORDER BY created_at, ordinal"

_FIND = f"SELECT {_COLUMNS} FROM registry_token WHERE digest = :digest AND revoked_at IS NULL"

_REVOKE = "UPDATE registry_token SET revoked_at = coalesce(revoked_at, :now) WHERE id = :id"


@frozen
class StoredRegistryTokens:
    """Tokens of the registry API, not cached. Only digests of their secrets are stored.

    `now` is in seconds since the epoch.
    """

    _tables: Tables
    _now: Callable[[], float]

    @transaction
    def create(self, rows: Rows, label: str) -> tuple[RegistryToken, str]:
        """Create a token; return it and its secret, which cannot be read again. Raises BadInput."""
        check_label(label)
        secret = new_registry_secret()
        values = {"label": label, "last_four": secret[-4:], "digest": digest(secret), "created_at": self._now()}
        return RegistryToken(*rows.one(_CREATE, id=new_id(), **values)), secret

    async def find(self, secret: str) -> RegistryToken | None:
        """Return the token with this secret, None if it is unknown or revoked."""
        row = await self._tables.one(_FIND, digest=digest(secret))
        return RegistryToken(*row) if row else None

    async def list(self) -> Sequence[RegistryToken]:
        """Return all tokens, oldest first, including revoked ones."""
        return [RegistryToken(*row) for row in await self._tables.select(_LIST)]

    @transaction
    def revoke(self, rows: Rows, token_id: str) -> None:
        """Revoke a token, effective immediately. Raises NotFound."""
        if not rows.execute(_REVOKE, id=token_id, now=self._now()):
            raise NotFound(f"No token has the id {token_id!r}.")

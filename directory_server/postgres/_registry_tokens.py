"""The RegistryTokens on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

from ..domain.entries import is_storable
from ..domain.errors import NotFound
from ..domain.keys import RegistryToken, check_label, digest, new_id, new_registry_secret
from ._database import Database
from ._link import Statements

_COLUMNS = "id, label, last_four, created_at, revoked_at"

_CREATE = f"""
    INSERT INTO registry_token (id, label, last_four, digest, created_at) VALUES ($1, $2, $3, $4, $5)
    RETURNING {_COLUMNS}
"""

_LIST = f"SELECT {_COLUMNS} FROM registry_token ORDER BY created_at, ordinal"

_FIND = f"SELECT {_COLUMNS} FROM registry_token WHERE digest = $1 AND revoked_at IS NULL"

_REVOKE = "UPDATE registry_token SET revoked_at = coalesce(revoked_at, $2) WHERE id = $1 RETURNING 1"


@frozen
class PostgresRegistryTokens:
    """Tokens of the registry API in the database, not cached. `now` is in seconds since the epoch.

    `reads` runs look-ups; by default in a thread.
    """

    _database: Database
    _now: Callable[[], float]
    _reads: Statements | None = None

    async def create(self, label: str) -> tuple[RegistryToken, str]:
        check_label(label)
        secret = new_registry_secret()
        row = new_id(), label, secret[-4:], digest(secret), self._now()
        return RegistryToken(*await self._database.write(lambda cursor: cursor.one(_CREATE, *row))), secret

    async def find(self, secret: str) -> RegistryToken | None:
        rows = await (self._reads or self._database).run(_FIND, digest(secret))
        return RegistryToken(*rows[0]) if rows else None

    async def list(self) -> Sequence[RegistryToken]:
        return [RegistryToken(*row) for row in await self._database.read(lambda cursor: cursor.all(_LIST))]

    async def revoke(self, token_id: str) -> None:
        now = self._now()
        known = is_storable(token_id) and await self._database.write(lambda cursor: cursor.one(_REVOKE, token_id, now))
        if not known:
            raise NotFound(f"No token has the id {token_id!r}.")

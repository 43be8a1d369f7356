"""The RegistryTokens on SQLite."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

from ..domain.errors import NotFound
from ..domain.keys import RegistryToken, check_label, digest, new_id, new_registry_secret
from ._database import Database

_COLUMNS = "id, label, last_four, created_at, revoked_at"

_CREATE = "INSERT INTO registry_token (id, label, last_four, digest, created_at) VALUES (?, ?, ?, ?, ?)"

_GET = f"SELECT {_COLUMNS} FROM registry_token WHERE id = ?"

_LIST = f"SELECT {_COLUMNS} FROM registry_token ORDER BY created_at, rowid"

_FIND = f"SELECT {_COLUMNS} FROM registry_token WHERE digest = ? AND revoked_at IS NULL"

_REVOKE = "UPDATE registry_token SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?"


@frozen
class SqliteRegistryTokens:
    """Tokens of the registry API in the data directory, not cached. `now` is in seconds since the epoch."""

    _database: Database
    _now: Callable[[], float]

    async def create(self, label: str) -> tuple[RegistryToken, str]:
        """Create a token; return it and its secret. Raises BadInput for an invalid label."""
        check_label(label)
        token_id, secret = new_id(), new_registry_secret()
        with self._database.transaction() as connection:
            connection.execute(_CREATE, (token_id, label, secret[-4:], digest(secret), self._now()))
            return RegistryToken(*connection.execute(_GET, (token_id,)).fetchone()), secret

    async def find(self, secret: str) -> RegistryToken | None:
        row = await self._database.read(lambda connection: connection.execute(_FIND, (digest(secret),)).fetchone())
        return RegistryToken(*row) if row else None

    async def list(self) -> Sequence[RegistryToken]:
        with self._database.connection() as connection:
            return [RegistryToken(*row) for row in connection.execute(_LIST)]

    async def revoke(self, token_id: str) -> None:
        with self._database.transaction() as connection:
            if connection.execute(_REVOKE, (self._now(), token_id)).rowcount == 0:
                raise NotFound(f"No token has the id {token_id!r}.")

"""The RegistryTokens on SQLite."""

from __future__ import annotations

import secrets
import string
from collections.abc import Callable, Sequence
from hashlib import sha256

from attrs import frozen

from ..domain.errors import BadInput, NotFound
from ..domain.keys import RegistryToken
from ._database import Database
from ._keyring import MAX_LABEL

_LETTERS = string.ascii_lowercase + string.digits
_LENGTH = 32
"""Letters of a token: 165 bits."""

_COLUMNS = "id, label, last_four, created_at, revoked_at"

_CREATE = "INSERT INTO registry_token (id, label, last_four, digest, created_at) VALUES (?, ?, ?, ?, ?)"

_GET = f"SELECT {_COLUMNS} FROM registry_token WHERE id = ?"

_LIST = f"SELECT {_COLUMNS} FROM registry_token ORDER BY created_at, rowid"

_FIND = f"SELECT {_COLUMNS} FROM registry_token WHERE digest = ? AND revoked_at IS NULL"

_REVOKE = "UPDATE registry_token SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?"


@frozen
class SqliteRegistryTokens:
    """Tokens of the registry API in the data directory; `now` is seconds since the epoch. Nothing is cached."""

    _database: Database
    _now: Callable[[], float]

    async def create(self, label: str) -> tuple[RegistryToken, str]:
        """Make a token; return it and its secret. Raises BadInput for a label that cannot be."""
        if not label.strip() or len(label) > MAX_LABEL or not label.isprintable():
            raise BadInput(f"label: must be 1 to {MAX_LABEL} printable characters.")
        token_id = "".join(secrets.choice(_LETTERS) for _ in range(8))
        secret = "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))
        with self._database.transaction() as connection:
            connection.execute(_CREATE, (token_id, label, secret[-4:], _digest(secret), self._now()))
            return RegistryToken(*connection.execute(_GET, (token_id,)).fetchone()), secret

    async def find(self, secret: str) -> RegistryToken | None:
        digest = _digest(secret)
        row = await self._database.read(lambda connection: connection.execute(_FIND, (digest,)).fetchone())
        return RegistryToken(*row) if row else None

    async def list(self) -> Sequence[RegistryToken]:
        with self._database.connection() as connection:
            return [RegistryToken(*row) for row in connection.execute(_LIST)]

    async def revoke(self, token_id: str) -> None:
        with self._database.transaction() as connection:
            if connection.execute(_REVOKE, (self._now(), token_id)).rowcount == 0:
                raise NotFound(f"No token has the id {token_id!r}.")


def _digest(secret: str) -> bytes:
    # A path may hold what is no UTF-8 once it is decoded.
    return sha256(secret.encode("utf-8", "surrogatepass")).digest()

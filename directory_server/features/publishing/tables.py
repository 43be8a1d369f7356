"""Tables of publisher tokens and of the audit log."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import asdict, frozen

from ...domain.entries import is_storable
from ...domain.errors import InvalidToken
from ...domain.keys import digest, is_publisher_secret
from ...tables import Rows, Tables, transaction
from .documents import publisher_token, publisher_token_row
from .proofs import record_proof
from .tokens import (
    LOG_PAGE,
    LOG_SIZE,
    LOGIN_LIFETIME,
    WINDOW,
    Proven,
    Publication,
    PublisherToken,
    new_publisher_token,
    unknown_publisher_token,
)

_COLUMNS = "id, label, namespaces, last_four, created_at, expires_at, revoked_at"

_CREATE = """
    INSERT INTO publisher_token (id, label, namespaces, last_four, digest, created_at, expires_at, login)
    VALUES (:id, :label, :namespaces, :last_four, :digest, :created_at, :expires_at, :login)
"""

_LIST = f"SELECT {_COLUMNS} FROM publisher_token ORDER BY created_at, ordinal"

_FIND = f"""
    SELECT {_COLUMNS} FROM publisher_token
    WHERE digest = :digest AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)
"""

_REVOKE = "UPDATE publisher_token SET revoked_at = coalesce(revoked_at, :now) WHERE id = :id"

_FORGET_LOGINS = "DELETE FROM publisher_token WHERE login IS NOT NULL AND expires_at <= :now"

_USE = "INSERT INTO used_proof (digest, expires_at) VALUES (:digest, :expires_at) ON CONFLICT (digest) DO NOTHING"

_FORGET_USED = "DELETE FROM used_proof WHERE expires_at <= :now"

_ADD = """
    INSERT INTO publication (at, token_id, label, action, name, version, network, outcome)
    VALUES (:at, :token_id, :label, :action, :name, :version, :network, :outcome) RETURNING number
"""

# The records beyond the most, usually one. Rows that another process deletes at the moment are skipped.
_TRIM = """
    DELETE FROM publication WHERE number IN (
        SELECT number FROM publication
        WHERE number <= (SELECT max(number) FROM publication) - CAST(:size AS bigint)
        ORDER BY number LIMIT 10 FOR UPDATE SKIP LOCKED
    )
"""

_FINISH = "UPDATE publication SET outcome = :outcome WHERE number = :number"

_NEWEST = """
    SELECT number, at, token_id, label, action, name, version, network, outcome FROM publication
    WHERE number < :before ORDER BY number DESC LIMIT :limit
"""

_OLD = "SELECT 1 FROM publication WHERE at <= :before LIMIT 1"

_FORGET = """
    DELETE FROM publication WHERE number IN (
        SELECT number FROM publication WHERE at <= :before ORDER BY at FOR UPDATE SKIP LOCKED
    )
"""

_LARGEST = 2**63 - 1


@frozen
class PublisherTokens:
    """Tokens that publish entries, not cached. Only digests of their secrets are stored.

    `now` is in seconds since the epoch.
    """

    _tables: Tables
    _now: Callable[[], float]

    async def create(
        self, label: str, namespaces: Sequence[str], *, expires_at: float | None
    ) -> tuple[PublisherToken, str]:
        """Create a token; return it and its secret, which cannot be read again. Raises BadInput."""
        token, secret = new_publisher_token(label, namespaces, self._now(), expires_at)
        row = publisher_token_row(token, secret)
        await self._tables.write(lambda rows: rows.execute(_CREATE, **row))
        return token, secret

    @transaction
    def grant(self, rows: Rows, proven: Proven, namespaces: Sequence[str]) -> tuple[PublisherToken, str]:
        """Create a token for LOGIN_LIFETIME seconds, and store what was proven; return it and its secret.

        Raises InvalidToken if the proof was used before, in any process.
        """
        now = self._now()
        token, secret = new_publisher_token(proven.label, namespaces, now, now + LOGIN_LIFETIME)
        if proven.use is not None:
            rows.execute(_FORGET_USED, now=now)
            if not rows.execute(_USE, digest=proven.use, expires_at=now + 4 * WINDOW):
                raise InvalidToken("This timestamp was used already. Sign a new one.", code="invalid_proof")
        rows.execute(_FORGET_LOGINS, now=now)
        rows.execute(_CREATE, **publisher_token_row(token, secret, proven.kind))
        for fact in proven.facts(now):
            record_proof(rows, fact)
        return token, secret

    async def find(self, secret: str) -> PublisherToken | None:
        """Return the token with this secret, None if it is malformed, unknown, revoked or expired."""
        if not is_publisher_secret(secret):
            return None
        row = await self._tables.one(_FIND, digest=digest(secret), now=self._now())
        return publisher_token(row) if row else None

    async def list(self) -> Sequence[PublisherToken]:
        """Return all tokens, oldest first, including revoked and expired ones."""
        rows = await self._tables.select(_LIST)
        return [publisher_token(row) for row in rows]

    async def revoke(self, token_id: str) -> None:
        """Revoke a token, effective immediately in every process. Raises NotFound."""
        now = self._now()
        known = is_storable(token_id) and await self._tables.write(
            lambda rows: rows.execute(_REVOKE, id=token_id, now=now) > 0
        )
        if not known:
            raise unknown_publisher_token(token_id)


@frozen
class PublicationLog:
    """The audit log of publisher tokens: at most `size` records, the oldest of which are deleted."""

    _tables: Tables
    _size: int = LOG_SIZE

    async def add(self, record: Publication) -> int:
        """Add a record; return its number. Numbers increase."""
        [[(number,)], _] = await self._tables.write(
            lambda rows: rows.finish((_ADD, asdict(record)), (_TRIM, {"size": self._size}))
        )
        return int(number)

    async def finish(self, number: int, outcome: str) -> None:
        """Set the outcome of a record, if it is still there."""
        await self._tables.run(_FINISH, number=number, outcome=outcome)

    async def newest(self, limit: int = LOG_PAGE, before: int | None = None) -> Sequence[tuple[int, Publication]]:
        """Return at most `limit` records, and at most LOG_PAGE, with their numbers, the newest first.

        With `before`, only records with smaller numbers.
        """
        limits = {"before": _LARGEST if before is None else before, "limit": min(limit, LOG_PAGE)}
        rows = await self._tables.select(_NEWEST, **limits)
        return [(number, Publication(*fields)) for number, *fields in rows]

    async def forget(self, before: float) -> None:
        """Delete the records at `before` (seconds since the epoch) or earlier.

        Do not write if there are none: SQLite would empty the caches of all processes.
        """
        if await self._tables.one(_OLD, before=before):
            await self._tables.write(lambda rows: rows.execute(_FORGET, before=before))

"""Sessions of browsers, and the new secrets that a session may read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from attrs import frozen

from ..domain.accounts import (
    MAX_FORGOTTEN,
    MAX_SESSIONS,
    Account,
    BrowserSession,
    digest_start,
    id_of_digest,
    unknown_session,
    writes_use,
)
from ..domain.errors import Unavailable
from ..domain.keys import NEW_SECRET_LIFETIME, UNKNOWN, Client, NewSecret, digest, new_token
from ._account_rows import COUNTS, columns
from ._tables import Rows, Tables, transaction
from .sealing import seal, unseal

# They skip rows that another process deletes: neither waits for the other.
_FORGET_IDLE = """
    DELETE FROM session WHERE digest = ANY(ARRAY(
        SELECT digest FROM session WHERE seen_at <= :before ORDER BY seen_at LIMIT :most FOR UPDATE SKIP LOCKED
    ))
"""

_FORGET_OLD = """
    DELETE FROM session WHERE digest = ANY(ARRAY(
        SELECT digest FROM session WHERE created_at <= :before ORDER BY created_at LIMIT :most FOR UPDATE SKIP LOCKED
    ))
"""

_SURPLUS = """
    DELETE FROM session WHERE account = :account AND digest NOT IN (
        SELECT digest FROM session WHERE account = :account ORDER BY seen_at DESC, created_at DESC LIMIT :most
    )
"""

_OPEN = """
    INSERT INTO session (digest, account, created_at, seen_at, network, client, person)
    VALUES (:digest, :account, :now, :now, :network, :client, :person)
"""

# A session has the role that the issuer gives to the person who signed in, not to others of the account.
_FIND = f"""
    SELECT session.seen_at, {columns("person.role")} FROM session JOIN account ON account.id = session.account
    LEFT JOIN identity AS person ON person.digest = session.person
    WHERE session.digest = :digest AND session.seen_at > :seen_after AND session.created_at > :created_after
        AND {COUNTS} AND (person.renew_by IS NULL OR person.renew_by > :now)
"""

_SEEN = """
    UPDATE session SET seen_at = greatest(seen_at, :now), network = :network, client = :client WHERE digest = :digest
"""

_LIST = """
    SELECT digest, created_at, seen_at, network, client FROM session
    WHERE account = :account AND seen_at > :seen_after AND created_at > :created_after
    ORDER BY seen_at DESC, created_at DESC
"""

_LOCK = "SELECT 1 FROM account WHERE id = (SELECT account FROM session WHERE digest = :digest) FOR UPDATE"

_END = "DELETE FROM session WHERE account = :account AND substr(digest, 1, 8) = :start"

_END_OTHERS = """
    DELETE FROM session
    WHERE account = (SELECT account FROM session WHERE digest = :digest) AND digest <> :digest
"""

_USED = "UPDATE account SET seen_at = greatest(coalesce(seen_at, 0), :now) WHERE id = :account"

_CLOSE = "DELETE FROM session WHERE digest = :digest"


@frozen
class StoredSessions:
    """Sign-in sessions. They end `idle` seconds after their last use, and `absolute` seconds after their start.

    Only digests of their secrets are stored. Use of a session counts as use of its account. The time and the client of
    the last use are up to USE_INTERVAL seconds old. `now` is in seconds since the epoch. Each transaction locks the
    account first, as those of Accounts.
    """

    _tables: Tables
    _now: Callable[[], float]
    _idle: float
    _absolute: float

    async def open(self, account_id: str, client: Client = UNKNOWN, person: bytes | None = None) -> str:
        """Start a session and return its secret. Above MAX_SESSIONS, end the least recently used one.

        `person` is the digest of the person of an issuer who signed in. It deletes some ended sessions, too.
        """
        token, now = new_token(), self._now()
        use = _use(digest(token), account_id, now, client)
        await self._tables.write(
            lambda rows: rows.finish(
                (_USED, use),
                (_FORGET_IDLE, {"before": now - self._idle, "most": MAX_FORGOTTEN}),
                (_FORGET_OLD, {"before": now - self._absolute, "most": MAX_FORGOTTEN}),
                (_SURPLUS, {"account": account_id, "most": MAX_SESSIONS - 1}),
                (_OPEN, {**use, "person": person}),
            )
        )
        return token

    async def find(self, token: str, client: Client = UNKNOWN) -> Account | None:
        """Return the account of a session and record its use by `client`; None if unknown or ended."""
        now, key = self._now(), digest(token)
        row = await self._tables.one(_FIND, digest=key, now=now, **self._begins(now))
        if row is None:
            return None
        seen_at, *fields = row
        account = Account(*fields)
        if writes_use(seen_at, now, self._idle):
            use = _use(key, account.id, now, client)
            # If another process holds the lock, or the database is away, the next request records the use.
            with suppress(Unavailable):
                await self._tables.write(lambda rows: rows.finish((_USED, use), (_SEEN, use)), waits=False)
        return account

    async def close(self, token: str) -> None:
        """End a session, if it exists."""
        key = digest(token)
        await self._tables.write(lambda rows: rows.execute(_CLOSE, digest=key))

    async def list(self, account_id: str) -> Sequence[BrowserSession]:
        """Return the sessions of an account that have not ended, the last used first."""
        rows = await self._tables.all(_LIST, account=account_id, **self._begins(self._now()))
        return [
            BrowserSession(id_of_digest(bytes(key)), created_at, seen_at, Client(network, name))
            for key, created_at, seen_at, network, name in rows
        ]

    async def end(self, account_id: str, session_id: str) -> None:
        """End the session of an account with this id. Raises NotFound."""
        start = digest_start(session_id)
        if start is None:
            raise unknown_session()
        if not await self._tables.write(lambda rows: rows.execute(_END, account=account_id, start=start) > 0):
            raise unknown_session()

    @transaction
    def end_others(self, rows: Rows, token: str) -> None:
        """End all sessions of the account of the session `token`, except this one."""
        key = digest(token)
        rows.lock(_LOCK, digest=key)
        rows.execute(_END_OTHERS, digest=key)

    def _begins(self, now: float) -> dict[str, float]:
        """Return the times of use and of start after which sessions are valid."""
        return {"seen_after": now - self._idle, "created_after": now - self._absolute}


def _use(key: bytes, account_id: str, now: float, client: Client) -> dict[str, object]:
    """Return the values of statements that write the use of a session; `key` is the digest of its secret."""
    return {"digest": key, "account": account_id, "now": now, "network": client.network, "client": client.name}


# It skips rows that another process deletes: neither waits for the other.
_FORGET = """
    DELETE FROM new_secret WHERE (session, key_id) IN (
        SELECT session, key_id FROM new_secret WHERE expires_at <= :now FOR UPDATE SKIP LOCKED
    )
"""

_PUT = """
    INSERT INTO new_secret (session, key_id, salt, sealed, rotated, expires_at)
    VALUES (:session, :key_id, :salt, :sealed, :rotated, :expires_at)
    ON CONFLICT (session, key_id) DO UPDATE SET
        salt = excluded.salt, sealed = excluded.sealed, rotated = excluded.rotated, expires_at = excluded.expires_at
"""

_TAKE = """
    DELETE FROM new_secret WHERE session = :session AND key_id = :key_id RETURNING salt, sealed, rotated, expires_at
"""


@frozen
class StoredNewSecrets:
    """New secrets of keys and webhooks, stored for a few minutes until a page shows them once, by any process.

    A stored secret can be read only with the secret of the session that stored it. `now` is in seconds since the epoch.
    """

    _tables: Tables
    _now: Callable[[], float]

    async def put(self, session: str, key_id: str, new: NewSecret) -> None:
        """Store the new secret of the key or webhook `key_id` for a session; it replaces an earlier one of both.

        It stays for NEW_SECRET_LIFETIME seconds. Expired ones are deleted.
        """
        now = self._now()
        salt, sealed = seal(session, key_id, new.secret)
        row = {
            "session": digest(session),
            "key_id": key_id,
            "salt": salt,
            "sealed": sealed,
            "rotated": new.rotated,
            "expires_at": now + NEW_SECRET_LIFETIME,
        }
        await self._tables.write(lambda rows: rows.finish((_FORGET, {"now": now}), (_PUT, row)))

    async def take(self, session: str, key_id: str) -> NewSecret | None:
        """Return and delete the new secret of a key or webhook; None if the session has none."""
        row = await self._tables.write(lambda rows: rows.one(_TAKE, session=digest(session), key_id=key_id))
        if row is None:
            return None
        salt, sealed, rotated, expires_at = row
        if expires_at <= self._now():
            return None
        secret = unseal(session, key_id, bytes(salt), bytes(sealed))
        return None if secret is None else NewSecret(secret, bool(rotated))

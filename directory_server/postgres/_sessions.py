"""The Sessions on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from attrs import frozen

from ..domain.accounts import (
    MAX_FORGOTTEN,
    MAX_SESSIONS,
    Account,
    BrowserSession,
    id_of_digest,
    unknown_session,
    writes_use,
)
from ..domain.clients import UNKNOWN, Client
from ..domain.entries import is_storable
from ..domain.errors import Unavailable
from ..domain.keys import digest, new_token
from ._accounts import COLUMNS
from ._connection import Cursor
from ._database import Database
from ._link import Statements

# They skip rows that another process deletes: neither waits for the other.
_FORGET_IDLE = """
    DELETE FROM session WHERE digest = ANY(ARRAY(
        SELECT digest FROM session WHERE seen_at <= $1 ORDER BY seen_at LIMIT $2::int FOR UPDATE SKIP LOCKED
    ))
"""

_FORGET_OLD = """
    DELETE FROM session WHERE digest = ANY(ARRAY(
        SELECT digest FROM session WHERE created_at <= $1 ORDER BY created_at LIMIT $2::int FOR UPDATE SKIP LOCKED
    ))
"""

_SURPLUS = """
    DELETE FROM session WHERE account = $1 AND digest NOT IN (
        SELECT digest FROM session WHERE account = $1 ORDER BY seen_at DESC, created_at DESC LIMIT $2
    )
"""

_OPEN = "INSERT INTO session (digest, account, created_at, seen_at, network, client) VALUES ($1, $2, $3, $3, $4, $5)"

_FIND = f"""
    SELECT session.seen_at, {COLUMNS} FROM session JOIN account ON account.id = session.account
    WHERE digest = $1 AND session.seen_at > $2 AND session.created_at > $3 AND disabled_at IS NULL
"""

_SEEN = "UPDATE session SET seen_at = greatest(seen_at, $2), network = $3, client = $4 WHERE digest = $1"

_LIST = """
    SELECT digest, created_at, seen_at, network, client FROM session
    WHERE account = $1 AND seen_at > $2 AND created_at > $3 ORDER BY seen_at DESC, created_at DESC
"""

_LOCK = "SELECT 1 FROM account WHERE id = (SELECT account FROM session WHERE digest = $1) FOR UPDATE"

_END = "DELETE FROM session WHERE account = $1 AND encode(substr(digest, 1, 8), 'hex') = $2"

_END_OTHERS = """
    DELETE FROM session WHERE account = (SELECT account FROM session WHERE digest = $1) AND digest <> $1
"""

_USED = "UPDATE account SET seen_at = greatest(seen_at, $2) WHERE id = $1"

_CLOSE = "DELETE FROM session WHERE digest = $1"


@frozen
class PostgresSessions:
    """Sessions in the database.

    They end `idle` seconds after their last use, and `absolute` seconds after their start. `now` is in seconds since
    the epoch. `reads` runs look-ups; by default in a thread.
    """

    _database: Database
    _now: Callable[[], float]
    _idle: float
    _absolute: float
    _reads: Statements | None = None

    async def open(self, account_id: str, client: Client = UNKNOWN) -> str:
        token, now = new_token(), self._now()

        def write(cursor: Cursor) -> str:
            # The account first, as in all transactions.
            cursor.execute(_USED, (account_id, now))
            cursor.execute(_FORGET_IDLE, (now - self._idle, MAX_FORGOTTEN))
            cursor.execute(_FORGET_OLD, (now - self._absolute, MAX_FORGOTTEN))
            cursor.execute(_SURPLUS, (account_id, MAX_SESSIONS - 1))
            cursor.execute(_OPEN, (digest(token), account_id, now, client.network, client.name))
            return token

        return await self._database.write(write)

    async def find(self, token: str, client: Client = UNKNOWN) -> Account | None:
        now, key = self._now(), digest(token)
        rows = await (self._reads or self._database).run(_FIND, key, now - self._idle, now - self._absolute)
        if not rows:
            return None
        seen_at, *account = rows[0]
        if writes_use(seen_at, now, self._idle):

            def write(cursor: Cursor) -> None:
                cursor.execute(_USED, (account[0], now))
                cursor.execute(_SEEN, (key, now, client.network, client.name))

            # If the database is away, the next request records the use.
            with suppress(Unavailable):
                await self._database.write(write)
        return Account(*account)

    async def close(self, token: str) -> None:
        await self._database.write(lambda cursor: cursor.execute(_CLOSE, (digest(token),)))

    async def list(self, account_id: str) -> Sequence[BrowserSession]:
        if not is_storable(account_id):
            return []
        now = self._now()
        rows = await self._database.read(
            lambda cursor: cursor.all(_LIST, account_id, now - self._idle, now - self._absolute)
        )
        return [
            BrowserSession(id_of_digest(bytes(key)), created_at, seen_at, Client(network, name))
            for key, created_at, seen_at, network, name in rows
        ]

    async def end(self, account_id: str, session_id: str) -> None:
        def write(cursor: Cursor) -> None:
            if not cursor.execute(_END, (account_id, session_id)).rowcount:
                raise unknown_session()

        if not (is_storable(account_id) and is_storable(session_id)):
            raise unknown_session()
        await self._database.write(write)

    async def end_others(self, token: str) -> None:
        key = digest(token)

        def write(cursor: Cursor) -> None:
            # The account first, as in all transactions.
            cursor.execute(_LOCK, (key,))
            cursor.execute(_END_OTHERS, (key,))

        await self._database.write(write)

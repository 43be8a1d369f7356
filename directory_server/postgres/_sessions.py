"""The Sessions on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from attrs import frozen

from ..domain.accounts import RECORDED_USES, Account
from ..domain.errors import Unavailable
from ..domain.keys import digest, new_token
from ._accounts import COLUMNS
from ._connection import Cursor
from ._database import Database
from ._link import Statements

# It skips rows that another process deletes: neither waits for the other.
_FORGET = """
    DELETE FROM session WHERE digest IN (
        SELECT digest FROM session WHERE seen_at <= $1 OR created_at <= $2 FOR UPDATE SKIP LOCKED
    )
"""

_OPEN = "INSERT INTO session (digest, account, created_at, seen_at) VALUES ($1, $2, $3, $3)"

_FIND = f"""
    SELECT session.seen_at, {COLUMNS} FROM session JOIN account ON account.id = session.account
    WHERE digest = $1 AND session.seen_at > $2 AND session.created_at > $3 AND disabled_at IS NULL
"""

_SEEN = "UPDATE session SET seen_at = greatest(seen_at, $2) WHERE digest = $1"

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

    async def open(self, account_id: str) -> str:
        token, now = new_token(), self._now()

        def write(cursor: Cursor) -> str:
            # The account first, as in all transactions.
            cursor.execute(_USED, (account_id, now))
            cursor.execute(_FORGET, (now - self._idle, now - self._absolute))
            cursor.execute(_OPEN, (digest(token), account_id, now))
            return token

        return await self._database.write(write)

    async def find(self, token: str) -> Account | None:
        now, key = self._now(), digest(token)
        rows = await (self._reads or self._database).run(_FIND, key, now - self._idle, now - self._absolute)
        if not rows:
            return None
        seen_at, *account = rows[0]
        if now - seen_at >= self._idle / RECORDED_USES:

            def write(cursor: Cursor) -> None:
                cursor.execute(_USED, (account[0], now))
                cursor.execute(_SEEN, (key, now))

            # If the database is away, the next request records the use.
            with suppress(Unavailable):
                await self._database.write(write)
        return Account(*account)

    async def close(self, token: str) -> None:
        await self._database.write(lambda cursor: cursor.execute(_CLOSE, (digest(token),)))

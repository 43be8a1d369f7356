"""The Attempts of all machines, on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from math import ceil

from attrs import frozen

from ..domain.errors import Throttled
from ..domain.throttling import AttemptLimit
from ._connection import NOW
from ._database import Database
from ._statements import Statements

_NOW = f"coalesce($2::double precision, {NOW})"
"""The time of the database, unless a test gives another."""

CLOCK_SET_BACK = 5.0
"""Seconds beyond the time of a whole burst from which on a row is of a clock that was ahead, and counts no more."""

_IS_AHEAD = f"known.due > {_NOW} + $4::double precision + $3::double precision + {CLOCK_SET_BACK}"

# GCRA (ITU-T I.371): `due` is the theoretical arrival time. `$3` is the seconds of one attempt at the average rate,
# `$4` those of a burst less one. A row in conflict is locked before it is checked.
_CHARGE = f"""
    WITH charged AS (
        INSERT INTO attempt AS known (who, due) VALUES ($1, {_NOW} + $3::double precision)
        ON CONFLICT (who) DO UPDATE
            SET due = CASE WHEN {_IS_AHEAD} THEN {_NOW} ELSE greatest(known.due, {_NOW}) END + $3::double precision
            WHERE known.due - $4::double precision <= {_NOW} OR {_IS_AHEAD}
        RETURNING 1
    )
    SELECT EXISTS (SELECT FROM charged), (SELECT due FROM attempt WHERE who = $1) - $4::double precision - {_NOW}
"""

_PRUNE = """
    DELETE FROM attempt WHERE who IN (
        SELECT who FROM attempt WHERE due <= coalesce($1::double precision, extract(epoch FROM clock_timestamp()))
        FOR UPDATE SKIP LOCKED LIMIT 10000
    )
"""


@frozen
class PostgresAttempts:
    """Attempts of all machines, by the clock of the database; `now`, for tests, replaces it.

    Addresses of clients and accounts are stored as digests. `statements` runs charges; by
    default in a thread.
    """

    _database: Database
    _now: Callable[[], float] | None = None
    _statements: Statements | None = None

    async def charge(self, limit: AttemptLimit, client: str) -> None:
        who = sha256(f"{limit.name}\n{client}".encode(errors="replace")).hexdigest()
        tolerance, now = (limit.burst - 1) / limit.rate, self._now() if self._now else None

        [(is_charged, wait)] = await (self._statements or self._database).run(
            _CHARGE, who, now, 1 / limit.rate, tolerance, wrote=lambda rows: bool(rows[0][0])
        )
        if not is_charged:
            # The row is as it was when the statement began, None if another attempt added it since.
            raise Throttled(max(ceil(wait or 0), 1))

    async def prune(self) -> None:
        """Delete rows of clients that have their whole burst again; the next call continues. Raises Unavailable."""
        now = self._now() if self._now else None
        await self._database.write(lambda cursor: cursor.execute(_PRUNE, (now,)))

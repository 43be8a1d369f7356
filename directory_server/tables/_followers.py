"""Followers of the change log: how far each is, and the lease of the process that does its work."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from ._tables import Tables

_NOW = "(SELECT coalesce(CAST(:now AS double precision), clock_seconds()) AS now) AS present"

# A lease that ends more than twice as far ahead as a new one is void: a wrong clock wrote it.
_FIND = f"""
    SELECT log, seq, version,
        holder NOT IN ('', :holder) AND until > now AND until <= now + 2 * CAST(:seconds AS double precision)
    FROM follower, {_NOW} WHERE name = :name
"""

_HOLD = f"""
    INSERT INTO follower AS held (name, holder, until)
    SELECT CAST(:name AS text), CAST(:holder AS text), now + CAST(:seconds AS double precision)
    FROM {_NOW} WHERE true
    ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
        WHERE held.holder IN ('', excluded.holder)
            OR held.until <= excluded.until - CAST(:seconds AS double precision)
            OR held.until > excluded.until + CAST(:seconds AS double precision)
"""

_ADVANCE = "UPDATE follower SET log = :log, seq = :seq, version = :version WHERE name = :name AND holder = :holder"

_RELEASE = "UPDATE follower SET holder = '', until = 0 WHERE name = :name AND holder = :holder"


@frozen
class Position:
    """How far a follower is: at `seq` of the log with the id `log`, by its `version`. Another process may hold it."""

    log: str = ""
    seq: int = 0
    version: str = ""
    is_held: bool = False


@frozen
class StoredFollowers:
    """Work that one process does at a time, by name: the lease of that process, and its position in the change log.

    `now` returns seconds since the epoch. Without it, leases end by the clock of the database, which is the same for
    all machines. All methods raise Unavailable.
    """

    _tables: Tables
    _now: Callable[[], float] | None = None

    async def find(self, name: str, holder: str, *, seconds: float) -> Position:
        """Return the position of `name`; `is_held` if another than `holder` has the lease, of `seconds`."""
        values = {"name": name, "holder": holder, "seconds": seconds, "now": self._time()}
        row = await self._tables.one(_FIND, **values)
        return Position(row[0], row[1], row[2], bool(row[3])) if row else Position()

    async def hold(self, name: str, holder: str, *, seconds: float) -> bool:
        """Acquire or renew the lease `name` for `seconds`; return False if another holder has it."""
        values = {"name": name, "holder": holder, "seconds": seconds, "now": self._time()}
        return await self._tables.write(lambda rows: rows.execute(_HOLD, **values)) > 0

    async def advance(self, name: str, holder: str, position: Position) -> bool:
        """Store the position of `name`; return False if another holder has the lease."""
        values = {"log": position.log, "seq": position.seq, "version": position.version}
        return await self._tables.write(lambda rows: rows.execute(_ADVANCE, name=name, holder=holder, **values)) > 0

    async def release(self, name: str, holder: str) -> None:
        """Release the lease, if `holder` still has it."""
        await self._tables.write(lambda rows: rows.execute(_RELEASE, name=name, holder=holder))

    def _time(self) -> float | None:
        return self._now and self._now()

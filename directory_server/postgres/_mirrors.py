"""The Mirrors on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from attrs import astuple, evolve, frozen

from ..domain.entries import is_storable, storable
from ..domain.ports.storage import READ_BYTES
from ..domain.upstreams import MAX_RUNS, FinishedRun, SyncProgress, UpstreamState
from ._connection import Cursor
from ._database import Database

_STATE = (
    "name",
    "selection",
    "last_run",
    "last_success",
    "next_run",
    "error",
    "failures",
    "entries",
    "updated_since",
    "etag",
    "modified",
    "full_sync_names",
    "full_sync_at",
)
"""The columns of an upstream, and the fields of UpstreamState without its progress."""

_PROGRESS = ("progress_full", "progress_began", "progress_cursor")
"""The columns of the progress, in the order of the fields of SyncProgress."""

_COLUMNS = (*_STATE, *_PROGRESS)

_ALL = f"SELECT {', '.join(_COLUMNS)} FROM upstream ORDER BY name"

_GET = f"SELECT {', '.join(_COLUMNS)} FROM upstream WHERE name = $1"

_PUT = f"""
    INSERT INTO upstream ({", ".join(_COLUMNS)}) VALUES ({", ".join(f"${n}" for n in range(1, len(_COLUMNS) + 1))})
    ON CONFLICT (name) DO UPDATE SET {", ".join(f"{column} = excluded.{column}" for column in _COLUMNS[1:])}
"""

_RUN_COLUMNS = "started_at, ended_at, is_full, entries, added, changed, removed, rejected, error"
"""The columns of a run, in the order of the fields of FinishedRun."""

_ADD_RUN = f"INSERT INTO sync_run (upstream, {_RUN_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"

_DROP_RUNS = f"""
    DELETE FROM sync_run WHERE upstream = $1 AND id <= (
        SELECT id FROM sync_run WHERE upstream = $1 ORDER BY id DESC LIMIT 1 OFFSET {MAX_RUNS}
    )
"""

_RUNS = f"SELECT {_RUN_COLUMNS} FROM sync_run WHERE upstream = $1 ORDER BY id DESC"

_SEE = """
    INSERT INTO seen (upstream, name, accepted)
    SELECT $1, name, accepted FROM unnest($2::text[], $3::boolean[]) AS given (name, accepted) ORDER BY name
    ON CONFLICT (upstream, name) DO UPDATE SET accepted = excluded.accepted
"""

_FORGET = "DELETE FROM seen WHERE upstream = $1"

_COUNT_SEEN = "SELECT count(*) FROM seen WHERE upstream = $1"

_UNSEEN = """
    SELECT id, octet_length(body) FROM record WHERE source = $1 AND NOT deleted
        AND NOT EXISTS (SELECT 1 FROM seen WHERE upstream = $1 AND seen.name = record.name AND accepted)
    LIMIT $2
"""

_BODIES = "SELECT body FROM record WHERE id = ANY($1::bigint[])"

# A subquery, because count(DISTINCT name) sorts the names, which the index has in order.
_ENTRIES = "SELECT count(*) FROM (SELECT DISTINCT name FROM record WHERE source = $1 AND NOT deleted) AS names"

_VERSIONS = "SELECT name, version, latest FROM record WHERE source = $1 AND name = ANY($2::text[])"

# Without `$3`, the time is that of the database. See `upstreams.may_hold`.
_HOLD = """
    WITH present AS (SELECT coalesce($3::double precision, extract(epoch FROM clock_timestamp())) AS now)
    INSERT INTO lease AS held (upstream, holder, until)
    SELECT $1, $2, now + $4::double precision FROM present
    ON CONFLICT (upstream) DO UPDATE SET holder = excluded.holder, until = excluded.until
        WHERE held.holder = excluded.holder
            OR held.until <= excluded.until - $4::double precision
            OR held.until > excluded.until + $4::double precision
"""

_RELEASE = "DELETE FROM lease WHERE upstream = $1 AND holder = $2"


@frozen
class PostgresMirrors:
    """States and leases of upstreams in the database.

    Leases end by the clock of the database, which is the same for all machines. `now`, for tests, replaces it; it
    returns seconds since the epoch.
    """

    _database: Database
    _now: Callable[[], float] | None = None

    async def all(self) -> Sequence[UpstreamState]:
        rows = await self._database.read(lambda cursor: cursor.all(_ALL))
        return [_state(*row) for row in rows]

    async def get(self, name: str) -> UpstreamState:
        row = await self._database.read(lambda cursor: cursor.one(_GET, name))
        return _state(*row) if row else UpstreamState(name)

    async def put(
        self, state: UpstreamState, *, seen: Mapping[str, bool] | None = None, run: FinishedRun | None = None
    ) -> None:
        await self._database.write(lambda cursor: _put(cursor, state, seen or {}, run))

    async def runs(self, name: str) -> Sequence[FinishedRun]:
        return [FinishedRun(*row) for row in await self._database.read(lambda cursor: cursor.all(_RUNS, name))]

    async def forget_seen(self, name: str) -> None:
        await self._change(_FORGET, name)

    async def count_seen(self, name: str) -> int:
        return await self._number(_COUNT_SEEN, name)

    async def unseen(self, name: str, limit: int) -> Sequence[bytes]:
        return await self._database.read(lambda cursor: _unseen(cursor, name, limit))

    async def versions(self, name: str, names: Collection[str]) -> Mapping[tuple[str, str], bool]:
        requested = list(filter(is_storable, names))
        rows = await self._database.read(lambda cursor: cursor.all(_VERSIONS, name, requested))
        return {(of, version): mark for of, version, mark in rows}

    async def entries(self, name: str) -> int:
        return await self._number(_ENTRIES, name)

    async def hold(self, name: str, holder: str, *, seconds: float) -> bool:
        return await self._change(_HOLD, name, holder, self._now and self._now(), seconds) > 0

    async def release(self, name: str, holder: str) -> None:
        await self._change(_RELEASE, name, holder)

    async def _change(self, statement: str, *arguments: object) -> int:
        """Run `statement`; return the number of rows that it changed."""
        return await self._database.write(lambda cursor: cursor.execute(statement, arguments).rowcount)

    async def _number(self, query: str, name: str) -> int:
        return await self._database.read(lambda cursor: int(cursor.one(query, name)[0]))


def _put(cursor: Cursor, state: UpstreamState, seen: Mapping[str, bool], run: FinishedRun | None) -> None:
    progress = astuple(state.progress) if state.progress else (None, None, None)
    state = evolve(state, error=storable(state.error))
    cursor.execute(_PUT, (*(getattr(state, column) for column in _STATE), *progress))
    if seen:
        cursor.execute(_SEE, [state.name, list(seen), list(seen.values())])
    if run is not None:
        cursor.execute(_ADD_RUN, (state.name, *astuple(evolve(run, error=storable(run.error)))))
        cursor.execute(_DROP_RUNS, (state.name,))


def _unseen(cursor: Cursor, name: str, limit: int) -> list[bytes]:
    rows, size = [], 0
    for row, added in cursor.all(_UNSEEN, name, limit):
        rows.append(row)
        size += added
        if size >= READ_BYTES:
            break
    return [body for (body,) in cursor.all(_BODIES, rows)] if rows else []


def _state(*row: Any) -> UpstreamState:
    *fields, full, began, cursor = row
    progress = None if full is None else SyncProgress(full, began, cursor)
    return UpstreamState(**dict(zip(_STATE, fields, strict=True)), progress=progress)

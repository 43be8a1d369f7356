"""The Mirrors on SQLite."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from typing import Any

from attrs import astuple, evolve, frozen

from ..domain.entries import is_storable, storable
from ..domain.ports.runtime import Offload
from ..domain.ports.storage import UNSEEN_BYTES
from ..domain.upstreams import MAX_RUNS, FinishedRun, SyncProgress, UpstreamState
from ..serialization import text
from ._database import Database

_COLUMNS = {
    "name": "name",
    "selection": "question",
    "last_run": "last_round",
    "last_success": "last_success",
    "next_run": "next_round",
    "error": "error",
    "failures": "failures",
    "entries": "entries",
    "updated_since": "mark",
    "etag": "etag",
    "modified": "modified",
    "full_sync_names": "walked",
    "full_sync_at": "walked_at",
}
"""The fields of UpstreamState without its progress, and their columns, which have the names of version 0.1."""

_PROGRESS = ("walk_full", "walk_began", "walk_cursor")
"""The columns of the progress, in the order of the fields of SyncProgress."""

_ALL_COLUMNS = ", ".join((*_COLUMNS.values(), *_PROGRESS))

_ALL = f"SELECT {_ALL_COLUMNS} FROM upstream ORDER BY name"

_GET = f"SELECT {_ALL_COLUMNS} FROM upstream WHERE name = ?"

_PUT = f"INSERT OR REPLACE INTO upstream ({_ALL_COLUMNS}) VALUES ({', '.join('?' * (len(_COLUMNS) + 3))})"

_RUN_COLUMNS = "started_at, ended_at, is_full, entries, added, changed, removed, rejected, error"
"""The columns of a run, in the order of the fields of FinishedRun."""

_ADD_RUN = f"INSERT INTO sync_run (upstream, {_RUN_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

_DROP_RUNS = f"""
    DELETE FROM sync_run WHERE upstream = :upstream AND id <= (
        SELECT id FROM sync_run WHERE upstream = :upstream ORDER BY id DESC LIMIT 1 OFFSET {MAX_RUNS}
    )
"""

_RUNS = f"SELECT {_RUN_COLUMNS} FROM sync_run WHERE upstream = ? ORDER BY id DESC"

_SEE = "INSERT OR REPLACE INTO seen (upstream, name, taken) VALUES (?, ?, ?)"

_FORGET = "DELETE FROM seen WHERE upstream = ?"

_COUNT_SEEN = "SELECT count(*) FROM seen WHERE upstream = ?"

_UNSEEN = """
    SELECT body FROM record WHERE source = :upstream AND deleted = 0
        AND NOT EXISTS (SELECT 1 FROM seen WHERE upstream = :upstream AND seen.name = record.name AND taken)
    LIMIT :limit
"""

# `deleted = 0` is a condition on the index of_source, in which the names are then in order.
_ENTRIES = "SELECT count(DISTINCT name) FROM record WHERE source = ? AND deleted = 0"

_VERSIONS = """
    SELECT record.name, version, latest FROM json_each(?) AS requested
    CROSS JOIN record ON record.name = requested.value AND source = ?
"""

_HOLD = """
    INSERT INTO lease (upstream, holder, until) VALUES (:upstream, :holder, :until)
    ON CONFLICT (upstream) DO UPDATE SET holder = :holder, until = :until
        WHERE holder = :holder OR until <= :now OR until > :void
"""

_RELEASE = "DELETE FROM lease WHERE upstream = ? AND holder = ?"


@frozen
class SqliteMirrors:
    """States and leases of upstreams in the data directory; `now` returns seconds since the epoch."""

    _database: Database
    _now: Callable[[], float]
    _offload: Offload

    async def all(self) -> Sequence[UpstreamState]:
        return await self._database.read(lambda connection: [_state(*row) for row in connection.execute(_ALL)])

    async def get(self, name: str) -> UpstreamState:
        row = await self._database.read(lambda connection: connection.execute(_GET, (name,)).fetchone())
        return _state(*row) if row else UpstreamState(name)

    async def put(
        self, state: UpstreamState, *, seen: Mapping[str, bool] | None = None, run: FinishedRun | None = None
    ) -> None:
        await self._offload(self._put, state, seen or {}, run)

    async def runs(self, name: str) -> Sequence[FinishedRun]:
        rows = await self._database.read(lambda connection: connection.execute(_RUNS, (name,)).fetchall())
        return [FinishedRun(started, ended, bool(full), *rest) for started, ended, full, *rest in rows]

    async def forget_seen(self, name: str) -> None:
        await self._offload(self._change, _FORGET, (name,))

    async def count_seen(self, name: str) -> int:
        return await self._offload(self._number, _COUNT_SEEN, name)

    async def unseen(self, name: str, limit: int) -> Sequence[bytes]:
        return await self._offload(self._unseen, name, limit)

    async def versions(self, name: str, names: Collection[str]) -> Mapping[tuple[str, str], bool]:
        return await self._offload(self._versions, name, text(list(filter(is_storable, names))))

    async def entries(self, name: str) -> int:
        return await self._offload(self._number, _ENTRIES, name)

    async def hold(self, name: str, holder: str, *, seconds: float) -> bool:
        now = self._now()
        lease = {"upstream": name, "holder": holder, "now": now, "until": now + seconds, "void": now + 2 * seconds}
        return await self._offload(self._change, _HOLD, lease) > 0

    async def release(self, name: str, holder: str) -> None:
        await self._offload(self._change, _RELEASE, (name, holder))

    def _put(self, state: UpstreamState, seen: Mapping[str, bool], run: FinishedRun | None) -> None:
        state = evolve(state, error=storable(state.error))
        fields = [getattr(state, name) for name in _COLUMNS]
        progress = astuple(state.progress) if state.progress else (None, None, None)
        with self._database.transaction() as connection:
            connection.execute(_PUT, (*fields, *progress))
            connection.executemany(_SEE, [(state.name, name, taken) for name, taken in seen.items()])
            if run is not None:
                connection.execute(_ADD_RUN, (state.name, *astuple(evolve(run, error=storable(run.error)))))
                connection.execute(_DROP_RUNS, {"upstream": state.name})

    def _change(self, statement: str, arguments: Sequence[object] | Mapping[str, object]) -> int:
        with self._database.transaction() as connection:
            return connection.execute(statement, arguments).rowcount

    def _number(self, query: str, name: str) -> int:
        with self._database.connection() as connection:
            return int(connection.execute(query, (name,)).fetchone()[0])

    def _versions(self, name: str, names: str) -> Mapping[tuple[str, str], bool]:
        with self._database.connection() as connection:
            return {(of, version): bool(mark) for of, version, mark in connection.execute(_VERSIONS, (names, name))}

    def _unseen(self, name: str, limit: int) -> Sequence[bytes]:
        bodies: list[bytes] = []
        size = 0
        with (
            self._database.connection() as connection,
            closing(connection.execute(_UNSEEN, {"upstream": name, "limit": limit})) as rows,
        ):
            while size < UNSEEN_BYTES and (row := rows.fetchone()):
                bodies += row
                size += len(row[0])
        return bodies


def _state(*row: Any) -> UpstreamState:
    *fields, full, began, cursor = row
    progress = None if full is None else SyncProgress(bool(full), began, cursor)
    return UpstreamState(**dict(zip(_COLUMNS, fields, strict=True)), progress=progress)

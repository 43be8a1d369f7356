"""Upstreams: their states, sync runs and leases."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from attrs import astuple, fields, frozen

from ..domain.upstreams import MAX_RUNS, FinishedRun, SyncProgress, UpstreamState
from ._followers import StoredFollowers
from ._tables import Rows, Tables, snapshot, transaction

UNSEEN_BYTES = 4_000_000
"""Bytes of entries after which one call of Mirrors.unseen stops."""

_STATE = tuple(column.name for column in fields(UpstreamState) if column.name != "progress")
"""The columns of an upstream, and the fields of UpstreamState without its progress."""

_PROGRESS = ("progress_full", "progress_began", "progress_cursor")
"""The columns of the progress, in the order of the fields of SyncProgress."""

_COLUMNS = (*_STATE, *_PROGRESS)

_ALL = f"SELECT {', '.join(_COLUMNS)} FROM upstream ORDER BY name"

_GET = f"SELECT {', '.join(_COLUMNS)} FROM upstream WHERE name = :name"

_PUT = f"""
    INSERT INTO upstream ({", ".join(_COLUMNS)}) VALUES ({", ".join(f":{column}" for column in _COLUMNS)})
    ON CONFLICT (name) DO UPDATE SET {", ".join(f"{column} = excluded.{column}" for column in _COLUMNS[1:])}
"""

_RUN = ("started_at", "ended_at", "is_full", "entries", "added", "changed", "removed", "rejected", "error", "note")
"""The columns of a run, in the order of the fields of FinishedRun."""

_ADD_RUN = f"""
    INSERT INTO sync_run (upstream, {", ".join(_RUN)}) VALUES (:upstream, {", ".join(f":{column}" for column in _RUN)})
"""

_DROP_RUNS = f"""
    DELETE FROM sync_run WHERE upstream = :upstream AND id <= (
        SELECT id FROM sync_run WHERE upstream = :upstream ORDER BY id DESC LIMIT 1 OFFSET {MAX_RUNS}
    )
"""

_RUNS = f"SELECT {', '.join(_RUN)} FROM sync_run WHERE upstream = :upstream ORDER BY id DESC"

_SEE = """
    INSERT INTO seen (upstream, name, accepted)
    SELECT CAST(:upstream AS text), name, accepted FROM input(name text, accepted boolean) WHERE true
    ON CONFLICT (upstream, name) DO UPDATE SET accepted = excluded.accepted
"""

_REQUEST = "UPDATE upstream SET next_run = 0 WHERE name = :upstream"

_FORGET = "DELETE FROM seen WHERE upstream = :upstream"

_COUNT_SEEN = "SELECT count(*) FROM seen WHERE upstream = :upstream"

_UNSEEN = """
    SELECT id, octet_length(body) FROM record WHERE source = :upstream AND deleted = false
        AND NOT EXISTS (SELECT 1 FROM seen WHERE upstream = :upstream AND seen.name = record.name AND accepted)
    LIMIT :limit
"""

_BODIES = "SELECT body FROM record WHERE id = ANY(:ids)"

# A subquery, because PostgreSQL sorts the names for count(DISTINCT name), which the index has in order.
_ENTRIES = """
    SELECT count(*) FROM (SELECT DISTINCT name FROM record WHERE source = :upstream AND deleted = false) AS names
"""

_VERSIONS = "SELECT name, version, latest FROM record WHERE source = :upstream AND name = ANY(:names)"


@frozen
class StoredMirrors:
    """States of upstreams, and the leases of the processes that may sync: see StoredFollowers."""

    _tables: Tables
    _followers: StoredFollowers

    async def all(self) -> Sequence[UpstreamState]:
        """Return all upstreams ever synced, by name."""
        return [_state(*row) for row in await self._tables.select(_ALL)]

    async def get(self, name: str) -> UpstreamState:
        """Return the state of the upstream `name`, a new one if it was never synced."""
        row = await self._tables.read(lambda rows: rows.one(_GET, name=name))
        return _state(*row) if row else UpstreamState(name)

    @transaction
    def put(
        self,
        rows: Rows,
        state: UpstreamState,
        *,
        seen: Mapping[str, bool] = {},
        run: FinishedRun | None = None,
    ) -> None:
        """Store the state, the names `seen` by its full sync, with whether each was accepted, and the `run` that ended.

        The last MAX_RUNS runs stay.
        """
        values = [getattr(state, column) for column in _STATE]
        progress = astuple(state.progress) if state.progress else (None, None, None)
        rows.execute(_PUT, **dict(zip(_COLUMNS, (*values, *progress), strict=True)))
        names = sorted(seen.items())
        rows.many(_SEE, [{"upstream": state.name, "name": name, "accepted": accepted} for name, accepted in names])
        if run is not None:
            rows.execute(_ADD_RUN, upstream=state.name, **dict(zip(_RUN, astuple(run), strict=True)))
            rows.execute(_DROP_RUNS, upstream=state.name)

    async def request(self, name: str) -> bool:
        """Make a sync run of the upstream `name` due; return whether it was ever synced."""
        return bool(await self._change(_REQUEST, upstream=name))

    async def runs(self, name: str) -> Sequence[FinishedRun]:
        """Return the last finished runs of the upstream `name`, newest first."""
        rows = await self._tables.select(_RUNS, upstream=name)
        return [FinishedRun(started, ended, bool(full), *rest) for started, ended, full, *rest in rows]

    async def forget_seen(self, name: str) -> None:
        """Delete the names that earlier full syncs of the upstream `name` have seen."""
        await self._change(_FORGET, upstream=name)

    async def count_seen(self, name: str) -> int:
        """Return the number of names that the full sync has seen, accepted or not."""
        return await self._number(_COUNT_SEEN, name)

    @snapshot
    def unseen(self, rows: Rows, name: str, limit: int) -> Sequence[bytes]:
        """Return at most `limit` encoded entries of the upstream that are not deleted and not seen or not accepted.

        Reading stops after the entry that brings the total bytes to UNSEEN_BYTES.
        """
        ids, size = [], 0
        for row, added in rows.all(_UNSEEN, upstream=name, limit=limit):
            ids.append(row)
            size += added
            if size >= UNSEEN_BYTES:
                break
        return [body for (body,) in rows.all(_BODIES, ids=ids)] if ids else []

    async def versions(self, name: str, names: Collection[str]) -> Mapping[tuple[str, str], bool]:
        """Return the stored versions of the upstream's `names`, by name and version, deleted or not.

        The value is whether the upstream marked the version as the latest.
        """
        rows = await self._tables.select(_VERSIONS, upstream=name, names=list(names))
        return {(name, version): bool(latest) for name, version, latest in rows}

    async def entries(self, name: str) -> int:
        """Return the number of the upstream's names with a version that is not deleted."""
        return await self._number(_ENTRIES, name)

    async def hold(self, name: str, holder: str, *, seconds: float) -> bool:
        """Acquire or renew the upstream's lease for `holder`, for `seconds`; return False if another holder has it."""
        return await self._followers.hold(f"upstream {name}", holder, seconds=seconds)

    async def release(self, name: str, holder: str) -> None:
        """Release the lease, if `holder` still has it."""
        await self._followers.release(f"upstream {name}", holder)

    @transaction
    def _change(self, rows: Rows, /, statement: str, **values: object) -> int:
        """Run `statement`; return the number of rows that it changed."""
        return rows.execute(statement, **values)

    @snapshot
    def _number(self, rows: Rows, query: str, name: str) -> int:
        return int(rows.one(query, upstream=name)[0])


def _state(*row: Any) -> UpstreamState:
    *values, full, began, cursor = row
    progress = None if full is None else SyncProgress(bool(full), began, cursor)
    return UpstreamState(**dict(zip(_STATE, values, strict=True)), progress=progress)

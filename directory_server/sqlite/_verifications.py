"""The Verifications on SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import TypeVar

from attrs import frozen

from .. import serialization
from ..domain.entries import mcp_id_of
from ..domain.ports.runtime import Offload
from ..domain.ports.verification import Plan, Summary
from ..domain.targets import Check, Policy, Target, TargetKind, TargetState
from ..domain.verification import PackageCheck
from ..domain.verified import indexed, summarize
from ..run_sync import inline
from ._database import Database
from ._visibility import log_change

T = TypeVar("T")

CANDIDATES = 1_000
"""Due targets from which a claim chooses those of different hosts."""

_PLAN = "SELECT seq, selection FROM verification_plan"

_PUT_PLAN = """
    INSERT INTO verification_plan (id, seq, selection) VALUES (1, ?1, ?2)
    ON CONFLICT (id) DO UPDATE SET seq = ?1, selection = ?2
"""

# See `upstreams.may_hold`.
_HOLD = """
    INSERT INTO verification_plan (id, holder, held_until) VALUES (1, :holder, :until)
    ON CONFLICT (id) DO UPDATE SET holder = :holder, held_until = :until
        WHERE holder = :holder OR held_until <= :now OR held_until > :void
"""

_TARGETS = "SELECT id, body, state FROM target WHERE mcp_id = ? ORDER BY kind DESC, id"

_STATE = "SELECT state FROM target WHERE id = ?"

_ADD = """
    INSERT INTO target (id, mcp_id, kind, host, body, due_at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING
"""

_DROP = "DELETE FROM target WHERE id = ? RETURNING texts"

# Of one kind: the index target_due then has the order. All due targets, after an import all of them, would be sorted.
_DUE = """
    SELECT due_at, id, host, body FROM target
    WHERE kind = :kind AND due_at <= :now
        AND (held_until <= :now OR held_until > :void) AND host NOT IN (SELECT value FROM json_each(:hosts))
    ORDER BY due_at LIMIT :limit
"""

_COUNT_DUE = "SELECT count(*) FROM target WHERE kind IN (SELECT value FROM json_each(?)) AND due_at <= ?"

_LEASE = "UPDATE target SET holder = ?, held_until = ? WHERE id = ?"

# The second condition lets the partial index target_held be used.
_RELEASE = "UPDATE target SET holder = '', held_until = 0 WHERE holder = ? AND holder <> ''"

_RELEASE_PLAN = "UPDATE verification_plan SET holder = '', held_until = 0 WHERE holder = ?"

_RECORD = "UPDATE target SET state = ?, texts = ?, due_at = ?, holder = '', held_until = 0 WHERE id = ?"

_INDEXED = "SELECT indexed FROM verification WHERE mcp_id = ?"

_SUMMARIZE = """
    INSERT INTO verification (mcp_id, revision, summary, indexed, texts)
    VALUES (?1, (SELECT coalesce(max(revision), 0) + 1 FROM verification), ?2, ?3, ?4)
    ON CONFLICT (mcp_id) DO UPDATE SET revision = excluded.revision, summary = ?2, indexed = ?3, texts = ?4
"""

_ADD_TEXTS = "INSERT INTO package_texts (id, body) VALUES (?, ?) ON CONFLICT (id) DO NOTHING"

_DROP_TEXTS = "DELETE FROM package_texts WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM target WHERE texts = ?1)"

_KNOWN = "SELECT DISTINCT mcp_id FROM target WHERE state IS NOT NULL"

_FORGET = "UPDATE target SET state = NULL, texts = NULL, due_at = ? WHERE mcp_id = ?"

_TEXTS = "SELECT texts FROM target WHERE mcp_id = ?"

_SUMMARIES = "SELECT revision, mcp_id, summary FROM verification WHERE revision > ? ORDER BY revision LIMIT ?"


@frozen
class SqliteVerifications:
    """Targets and their states in the data directory; `now` returns seconds since the epoch."""

    _database: Database
    _now: Callable[[], float]
    _offload: Offload = inline

    async def plan(self) -> Plan:
        row = await self._database.read(lambda connection: connection.execute(_PLAN).fetchone())
        return Plan(*row) if row else Plan()

    async def hold(self, holder: str, *, seconds: float) -> bool:
        now = self._now()
        lease = {"holder": holder, "now": now, "until": now + seconds, "void": now + 2 * seconds}
        return await self._write(lambda connection: connection.execute(_HOLD, lease).rowcount > 0)

    async def put_targets(self, targets: Mapping[str, Sequence[Target]], plan: Plan | None = None) -> None:
        def write(connection: sqlite3.Connection) -> None:
            for mcp_id, each in targets.items():
                self._replace(connection, mcp_id, each)
            if plan is not None:
                connection.execute(_PUT_PLAN, (plan.seq, plan.selection))

        await self._write(write)

    async def claim(
        self, holder: str, limit: int, *, seconds: float, kinds: Collection[TargetKind], except_hosts: Collection[str]
    ) -> Sequence[Target]:
        now = self._now()
        due = {
            "hosts": serialization.text(sorted(except_hosts)),
            "now": now,
            "void": now + 2 * seconds,
        }

        def find(connection: sqlite3.Connection, limit: int = 1) -> list[tuple[float, str, str, bytes]]:
            rows = (connection.execute(_DUE, {**due, "kind": kind, "limit": limit}) for kind in sorted(kinds))
            return sorted(chain.from_iterable(rows), key=itemgetter(0))[:limit]

        def claim(connection: sqlite3.Connection) -> Sequence[Target]:
            chosen: dict[str, tuple[str, bytes]] = {}
            for _, number, host, body in find(connection, CANDIDATES):
                chosen.setdefault(host, (number, body))
                if len(chosen) >= limit:
                    break
            connection.executemany(_LEASE, [(holder, now + seconds, number) for number, _ in chosen.values()])
            return [serialization.restore_target(body) for _, body in chosen.values()]

        # A write makes all processes look for changes.
        if not await self._offload(self._read, find):
            return []
        return await self._write(claim)

    async def record(self, target: Target, check: Check, policy: Policy, *, spread: float = 1.0) -> bool:
        def write(connection: sqlite3.Connection) -> bool:
            row = connection.execute(_STATE, (target.id,)).fetchone()
            if row is None:
                return False
            before = serialization.restore_state(target, row[0])
            state = before.after(check, policy)
            due_at = self._now() + spread * policy.wait(state, check)
            connection.execute(_RECORD, (serialization.encode_state(state), state.texts or None, due_at, target.id))
            if state.texts != before.texts:
                _replace_texts(connection, [before.texts], check)
            return _summarize(connection, mcp_id_of(target.name))

        return await self._write(write)

    async def release(self, holder: str) -> None:
        def write(connection: sqlite3.Connection) -> None:
            for statement in (_RELEASE, _RELEASE_PLAN):
                connection.execute(statement, (holder,))

        await self._write(write)

    async def states(self, mcp_id: str) -> Sequence[TargetState]:
        rows = await self._database.read(lambda connection: connection.execute(_TARGETS, (mcp_id,)).fetchall())
        return [_restored(body, state) for _, body, state in rows]

    async def forget(self, names: Collection[str] | None = None) -> int:
        asked = None if names is None else set(map(mcp_id_of, names))

        def write(connection: sqlite3.Connection) -> int:
            known = {mcp_id for (mcp_id,) in connection.execute(_KNOWN)}
            forgotten = known if asked is None else known & asked
            for mcp_id in sorted(forgotten):
                texts = [row[0] for row in connection.execute(_TEXTS, (mcp_id,))]
                connection.execute(_FORGET, (self._now(), mcp_id))
                _replace_texts(connection, texts)
                _summarize(connection, mcp_id)
            return len(forgotten)

        return await self._write(write)

    async def due(self, kinds: Collection[TargetKind]) -> int:
        arguments = serialization.text(sorted(kinds)), self._now()
        return await self._offload(
            self._read, lambda connection: int(connection.execute(_COUNT_DUE, arguments).fetchone()[0])
        )

    async def summaries(self, after: int, limit: int) -> Sequence[Summary]:
        rows = await self._offload(
            self._read, lambda connection: connection.execute(_SUMMARIES, (after, limit)).fetchall()
        )
        return [Summary(revision, mcp_id, serialization.restore_verification(body)) for revision, mcp_id, body in rows]

    def _replace(self, connection: sqlite3.Connection, mcp_id: str, targets: Sequence[Target]) -> None:
        """Replace the targets of an entry; keep the states of those that stay."""
        wanted = {each.id: each for each in targets}
        stored = {number: state for number, _, state in connection.execute(_TARGETS, (mcp_id,))}
        rows = [
            (number, mcp_id, each.kind, each.host, serialization.encode_target(each), self._now())
            for number, each in wanted.items()
            if number not in stored
        ]
        connection.executemany(_ADD, rows)
        gone = [number for number in stored if number not in wanted]
        dropped = [connection.execute(_DROP, (number,)).fetchone() for number in gone]
        _replace_texts(connection, [row[0] for row in dropped])
        if any(stored[number] is not None for number in gone):
            _summarize(connection, mcp_id)

    def _read(self, function: Callable[[sqlite3.Connection], T]) -> T:
        with self._database.connection() as connection:
            return function(connection)

    async def _write(self, function: Callable[[sqlite3.Connection], T]) -> T:
        return await self._offload(self._database.write, function)


def _replace_texts(connection: sqlite3.Connection, old: Iterable[str | None], check: Check | None = None) -> None:
    """Delete the texts `old` that no target has, and store those of a `check` of a package."""
    connection.executemany(_DROP_TEXTS, [(each,) for each in old if each])
    if isinstance(check, PackageCheck) and check.texts is not None and check.texts.id:
        connection.execute(_ADD_TEXTS, (check.texts.id, serialization.encode_texts(check.texts)))


def _summarize(connection: sqlite3.Connection, mcp_id: str) -> bool:
    """Store the verification of an entry; log a change and return True if its indexed part has changed."""
    states = [_restored(body, state) for _, body, state in connection.execute(_TARGETS, (mcp_id,))]
    after = indexed(states)
    encoded = None if after is None else serialization.encode_verification(after)
    before = connection.execute(_INDEXED, (mcp_id,)).fetchone()
    summary = serialization.encode_verification(summarize(states))
    connection.execute(_SUMMARIZE, (mcp_id, summary, encoded, (after and after.texts) or None))
    if (before[0] if before else None) == encoded:
        return False
    log_change(connection, mcp_id)
    return True


def _restored(body: bytes, state: bytes | None) -> TargetState:
    return serialization.restore_state(serialization.restore_target(body), state)

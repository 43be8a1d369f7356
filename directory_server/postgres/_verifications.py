"""The Verifications on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from operator import itemgetter

from attrs import frozen

from .. import serialization
from ..domain.entries import mcp_id_of
from ..domain.ports.verification import Plan, Summary
from ..domain.targets import Check, Policy, Target, TargetKind, TargetState
from ..domain.verification import PackageCheck
from ..domain.verified import indexed, summarize
from ._connection import Cursor
from ._database import Database
from ._visibility import log_change

CANDIDATES = 1_000
"""Due targets from which a claim chooses those of different hosts."""

# Revisions grow in the order of commits. (0, 1) to (0, 3) are other locks. Rows of targets are locked before it, and
# the lock of publishers after it.
_LOCK = "SELECT pg_advisory_xact_lock(0, 4)"

# Of the begin of the statement: an index is not searched for the result of clock_timestamp().
_NOW = "coalesce($1::double precision, extract(epoch FROM statement_timestamp()))"
"""The time, in seconds since the epoch: the first parameter, else that of the database."""

_PLAN = "SELECT seq, selection FROM verification_plan"

_PUT_PLAN = """
    INSERT INTO verification_plan (id, seq, selection) VALUES (1, $1, $2)
    ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, selection = excluded.selection
"""

# See `upstreams.may_hold`.
_HOLD = f"""
    INSERT INTO verification_plan AS held (id, holder, held_until) SELECT 1, $2, {_NOW} + $3::double precision
    ON CONFLICT (id) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until
        WHERE held.holder = excluded.holder
            OR held.held_until <= excluded.held_until - $3::double precision
            OR held.held_until > excluded.held_until + $3::double precision
"""

_TARGETS = "SELECT id, body, state FROM target WHERE mcp_id = $1 ORDER BY kind DESC, id"

_STORED = """
    SELECT mcp_id, id, state IS NOT NULL FROM target WHERE mcp_id = ANY($1::text[]) ORDER BY id FOR UPDATE
"""

_LOCK_TARGETS = "SELECT id, state FROM target WHERE mcp_id = $1 ORDER BY id FOR UPDATE"

_ADD = f"""
    INSERT INTO target (id, mcp_id, kind, host, body, due_at)
    SELECT id, mcp_id, kind, host, body, {_NOW}
    FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::bytea[]) AS given (id, mcp_id, kind, host, body)
    ORDER BY id
    ON CONFLICT (id) DO NOTHING
"""

_DROP = "DELETE FROM target WHERE id = ANY($1::text[]) RETURNING texts"

# Of one kind: the index target_due then has the order. All due targets, after an import all of them, would be sorted.
_DUE = f"""
    SELECT due_at, id, host, body FROM target
    WHERE kind = $2 AND due_at <= {_NOW} AND host <> ALL($3::text[])
        AND (held_until <= {_NOW} OR held_until > {_NOW} + 2 * $4::double precision)
    ORDER BY due_at LIMIT $5 FOR UPDATE SKIP LOCKED
"""

_COUNT_DUE = f"SELECT count(*) FROM target WHERE kind = ANY($2::text[]) AND due_at <= {_NOW}"

_LEASE = f"""
    UPDATE target SET holder = $2, held_until = {_NOW} + $3::double precision WHERE id = ANY($4::text[])
"""

_RELEASE = """
    UPDATE target SET holder = '', held_until = 0
    WHERE id IN (SELECT id FROM target WHERE holder = $1 AND holder <> '' ORDER BY id FOR UPDATE)
"""

_RELEASE_PLAN = "UPDATE verification_plan SET holder = '', held_until = 0 WHERE holder = $1"

_RECORD = f"""
    UPDATE target SET state = $2, texts = $3, due_at = {_NOW} + $4::double precision, holder = '', held_until = 0
    WHERE id = $5
"""

_INDEXED = "SELECT indexed FROM verification WHERE mcp_id = $1"

_SUMMARIZE = """
    INSERT INTO verification (mcp_id, revision, summary, indexed, texts)
    VALUES ($1, (SELECT coalesce(max(revision), 0) + 1 FROM verification), $2, $3, $4)
    ON CONFLICT (mcp_id) DO UPDATE SET
        revision = excluded.revision, summary = excluded.summary, indexed = excluded.indexed, texts = excluded.texts
"""

# Both run under the lock: else texts could be deleted that another transaction begins to use.
_ADD_TEXTS = "INSERT INTO package_texts (id, body) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING"

_DROP_TEXTS = """
    DELETE FROM package_texts
    WHERE id = ANY($1::text[]) AND NOT EXISTS (SELECT 1 FROM target WHERE target.texts = package_texts.id)
"""

_KNOWN = """
    SELECT id, mcp_id, texts FROM target WHERE state IS NOT NULL AND ($1::text[] IS NULL OR mcp_id = ANY($1::text[]))
    ORDER BY id FOR UPDATE
"""

_FORGET = f"UPDATE target SET state = NULL, texts = NULL, due_at = {_NOW} WHERE id = ANY($2::text[])"

_SUMMARIES = "SELECT revision, mcp_id, summary FROM verification WHERE revision > $1 ORDER BY revision LIMIT $2"

_NAME = "SELECT name FROM entry WHERE mcp_id = $1"


@frozen
class PostgresVerifications:
    """Targets and their states in the database.

    Times are by the clock of the database. `now`, for tests, replaces it; it returns seconds since the epoch.
    """

    _database: Database
    _now: Callable[[], float] | None = None

    async def plan(self) -> Plan:
        row = await self._database.read(lambda cursor: cursor.one(_PLAN))
        return Plan(*row) if row else Plan()

    async def hold(self, holder: str, *, seconds: float) -> bool:
        arguments = self._time(), holder, seconds
        return await self._database.write(lambda cursor: cursor.execute(_HOLD, arguments).rowcount > 0)

    async def put_targets(self, targets: Mapping[str, Sequence[Target]], plan: Plan | None = None) -> None:
        def write(cursor: Cursor) -> None:
            self._replace(cursor, targets)
            if plan is not None:
                cursor.execute(_PUT_PLAN, (plan.seq, plan.selection))

        await self._database.write(write)

    async def claim(
        self, holder: str, limit: int, *, seconds: float, kinds: Collection[TargetKind], except_hosts: Collection[str]
    ) -> Sequence[Target]:
        now = self._time()

        def write(cursor: Cursor) -> Sequence[Target]:
            chosen: dict[str, tuple[str, bytes]] = {}
            hosts = sorted(except_hosts)
            due = [cursor.all(_DUE, now, kind, hosts, seconds, CANDIDATES) for kind in sorted(kinds)]
            for _, number, host, body in sorted(chain.from_iterable(due), key=itemgetter(0)):
                if len(chosen) < limit:
                    chosen.setdefault(host, (number, body))
            cursor.execute(_LEASE, (now, holder, seconds, [number for number, _ in chosen.values()]))
            return [serialization.restore_target(body) for _, body in chosen.values()]

        return await self._database.write(write)

    async def record(self, target: Target, check: Check, policy: Policy, *, spread: float = 1.0) -> bool:
        mcp_id = mcp_id_of(target.name)

        def write(cursor: Cursor) -> bool:
            stored = dict(cursor.all(_LOCK_TARGETS, mcp_id))
            if target.id not in stored:
                return False
            before = serialization.restore_state(target, stored[target.id])
            state = before.after(check, policy)
            wait, encoded = spread * policy.wait(state, check), serialization.encode_state(state)
            cursor.execute(_RECORD, (self._time(), encoded, state.texts or None, wait, target.id))
            if state.texts != before.texts:
                _replace_texts(cursor, [before.texts], check)
            return _summarize(cursor, mcp_id)

        return await self._database.write(write)

    async def release(self, holder: str) -> None:
        def write(cursor: Cursor) -> None:
            for statement in (_RELEASE, _RELEASE_PLAN):
                cursor.execute(statement, (holder,))

        await self._database.write(write)

    async def states(self, mcp_id: str) -> Sequence[TargetState]:
        return await self._database.read(lambda cursor: _states(cursor, mcp_id))

    async def forget(self, names: Collection[str] | None = None) -> int:
        asked = None if names is None else [mcp_id_of(name) for name in names]

        def write(cursor: Cursor) -> int:
            known = cursor.all(_KNOWN, asked)
            cursor.execute(_FORGET, (self._time(), [number for number, _, _ in known]))
            _replace_texts(cursor, [texts for _, _, texts in known])
            forgotten = sorted({mcp_id for _, mcp_id, _ in known})
            for mcp_id in forgotten:
                _summarize(cursor, mcp_id)
            return len(forgotten)

        return await self._database.write(write)

    async def due(self, kinds: Collection[TargetKind]) -> int:
        return await self._database.read(lambda cursor: int(cursor.one(_COUNT_DUE, self._time(), sorted(kinds))[0]))

    async def summaries(self, after: int, limit: int) -> Sequence[Summary]:
        rows = await self._database.read(lambda cursor: cursor.all(_SUMMARIES, after, limit))
        return [Summary(revision, mcp_id, serialization.restore_verification(body)) for revision, mcp_id, body in rows]

    def _replace(self, cursor: Cursor, targets: Mapping[str, Sequence[Target]]) -> None:
        """Replace the targets of entries; keep the states of those that stay."""
        wanted = {each.id: (mcp_id, each) for mcp_id, found in targets.items() for each in found}
        stored = {number: (mcp_id, known) for mcp_id, number, known in cursor.all(_STORED, list(targets))}
        new = [(number, *each) for number, each in wanted.items() if number not in stored]
        cursor.execute(
            _ADD,
            (
                self._time(),
                [number for number, _, _ in new],
                [mcp_id for _, mcp_id, _ in new],
                [each.kind for _, _, each in new],
                [each.host for _, _, each in new],
                [serialization.encode_target(each) for _, _, each in new],
            ),
        )
        gone = [number for number in stored if number not in wanted]
        _replace_texts(cursor, [texts for (texts,) in cursor.all(_DROP, gone)])
        for mcp_id in sorted({stored[number][0] for number in gone if stored[number][1]}):
            _summarize(cursor, mcp_id)

    def _time(self) -> float | None:
        return self._now and self._now()


def _states(cursor: Cursor, mcp_id: str) -> list[TargetState]:
    return [
        serialization.restore_state(serialization.restore_target(body), state)
        for _, body, state in cursor.all(_TARGETS, mcp_id)
    ]


def _replace_texts(cursor: Cursor, old: Iterable[str | None], check: Check | None = None) -> None:
    """Delete the texts `old` that no target has, and store those of a `check` of a package."""
    dropped = sorted({each for each in old if each})
    added = check.texts if isinstance(check, PackageCheck) else None
    if dropped or added is not None:
        cursor.execute(_LOCK)
    if dropped:
        cursor.execute(_DROP_TEXTS, (dropped,))
    if added is not None and added.id:
        cursor.execute(_ADD_TEXTS, (added.id, serialization.encode_texts(added)))


def _summarize(cursor: Cursor, mcp_id: str) -> bool:
    """Store the verification of an entry; log a change and return True if its indexed part has changed."""
    cursor.execute(_LOCK)
    states = _states(cursor, mcp_id)
    after = indexed(states)
    encoded = None if after is None else serialization.encode_verification(after)
    before = cursor.one(_INDEXED, mcp_id)
    summary, texts = serialization.encode_verification(summarize(states)), (after and after.texts) or None
    cursor.execute(_SUMMARIZE, (mcp_id, summary, encoded, texts))
    if (bytes(before[0]) if before and before[0] is not None else None) == encoded:
        return False
    if name := cursor.one(_NAME, mcp_id):
        log_change(cursor, name[0])
    return True

"""Tables of targets, of their states, and of what is known of each entry."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain
from operator import itemgetter

from attrs import frozen

from ...domain.entries import mcp_id_of
from ...serialization import decode_stored, encode, restore_record
from ...tables import Rows, Storage, Tables, log_change, transaction
from .settings import VerifyConfig
from .stored import encode_state, restore_state
from .summaries import Verification
from .summary_rows import replace_texts, states_of, summarize_entry
from .targets import Check, Target, TargetKind, TargetState, wait_of

CANDIDATES = 1_000
"""Due targets from which a claim chooses those of different hosts."""

_NOW = "coalesce(CAST(:now AS double precision), clock_seconds())"
"""The time, in seconds since the epoch: the parameter, else that of the database."""

_SECONDS = "CAST(:seconds AS double precision)"

_STORED = """
    SELECT mcp_id, id, state IS NOT NULL FROM target WHERE mcp_id = ANY(:mcp_ids) ORDER BY id FOR UPDATE
"""

_LOCK_TARGETS = "SELECT id, state FROM target WHERE mcp_id = :mcp_id ORDER BY id FOR UPDATE"

_ADD = f"""
    INSERT INTO target (id, mcp_id, kind, host, body, due_at)
    SELECT id, mcp_id, kind, host, body, {_NOW}
    FROM input(id text, mcp_id text, kind text, host text, body bytea) WHERE true
    ON CONFLICT (id) DO NOTHING
"""

_DROP = "DELETE FROM target WHERE id = ANY(:ids) RETURNING texts"

# Of one kind: the index target_due then has the order. All due targets, after an import all of them, would be sorted.
_IS_DUE = f"""
    kind = :kind AND due_at <= {_NOW} AND host <> ALL(:hosts)
        AND (held_until <= {_NOW} OR held_until > {_NOW} + 2 * {_SECONDS})
"""

_DUE = f"""
    SELECT due_at, id, host, body FROM target WHERE {_IS_DUE} ORDER BY due_at LIMIT :limit FOR UPDATE SKIP LOCKED
"""

_FIRST_DUE = f"SELECT 1 FROM target WHERE {_IS_DUE} ORDER BY due_at LIMIT 1"

_COUNT_DUE = f"SELECT count(*) FROM target WHERE kind = ANY(:kinds) AND due_at <= {_NOW}"

_LEASE = f"UPDATE target SET holder = :holder, held_until = {_NOW} + {_SECONDS} WHERE id = ANY(:ids)"

# The second condition lets the partial index target_held be used.
_RELEASE = """
    UPDATE target SET holder = '', held_until = 0
    WHERE id IN (SELECT id FROM target WHERE holder = :holder AND holder <> '' ORDER BY id FOR UPDATE)
"""

_RECORD = f"""
    UPDATE target SET state = :state, texts = :texts, due_at = {_NOW} + {_SECONDS}, holder = '', held_until = 0
    WHERE id = :id
"""

_CHECKED = "SELECT id, mcp_id, texts FROM target WHERE state IS NOT NULL"

_ALL_CHECKED = f"{_CHECKED} ORDER BY id FOR UPDATE"

_CHECKED_OF = f"{_CHECKED} AND mcp_id = ANY(:mcp_ids) ORDER BY id FOR UPDATE"

_FORGET = f"UPDATE target SET state = NULL, texts = NULL, due_at = {_NOW} WHERE id = ANY(:ids)"

_SUMMARIES = """
    SELECT revision, mcp_id, summary FROM verification WHERE revision > :after ORDER BY revision LIMIT :limit
"""


@frozen
class Summary:
    """The verification of an entry. A summary that is written later has a greater `revision`."""

    revision: int
    mcp_id: str
    verification: Verification


@frozen
class Verifications:
    """Targets of all entries, their due times, leases and states, and the summary of each entry.

    `now` returns seconds since the epoch. Without it, times are by the clock of the database, which is the same for all
    machines.
    """

    _tables: Tables
    _now: Callable[[], float] | None = None

    @transaction
    def put_targets(self, rows: Rows, targets: Mapping[str, Sequence[Target]]) -> None:
        """Replace the targets of the entries whose `mcp_id` is in `targets`.

        The state of a target that stays is kept. A new target is due at once.
        """
        wanted = {target.id: (mcp_id, target) for mcp_id, listed in targets.items() for target in listed}
        stored = {number: (mcp_id, has_state) for mcp_id, number, has_state in rows.all(_STORED, mcp_ids=list(targets))}
        new = [
            {
                "now": self._time(),
                "id": number,
                "mcp_id": mcp_id,
                "kind": target.kind,
                "host": target.host,
                "body": encode(target),
            }
            for number, (mcp_id, target) in sorted(wanted.items())
            if number not in stored
        ]
        rows.many(_ADD, new)
        gone = [number for number in stored if number not in wanted]
        if gone:
            replace_texts(rows, [texts for (texts,) in rows.all(_DROP, ids=gone)])
        for mcp_id in sorted({stored[number][0] for number in gone if stored[number][1]}):
            summarize_entry(rows, mcp_id)

    async def claim(
        self, holder: str, limit: int, *, seconds: float, kinds: Collection[TargetKind], except_hosts: Collection[str]
    ) -> Sequence[Target]:
        """Lease at most `limit` due targets to `holder` for `seconds`, the longest due first; return them.

        They have different hosts, none of `except_hosts`, and are leased to no other holder.
        """
        due = {"now": self._time(), "seconds": seconds, "hosts": sorted(except_hosts)}

        def has_due(rows: Rows) -> bool:
            return any(rows.one(_FIRST_DUE, kind=kind, **due) for kind in kinds)

        def claim(rows: Rows) -> Sequence[Target]:
            chosen: dict[str, tuple[str, bytes]] = {}
            found = [rows.all(_DUE, kind=kind, limit=CANDIDATES, **due) for kind in sorted(kinds)]
            for _, number, host, body in sorted(chain.from_iterable(found), key=itemgetter(0)):
                if len(chosen) < limit:
                    chosen.setdefault(host, (number, body))
            ids = [number for number, _ in chosen.values()]
            rows.execute(_LEASE, now=due["now"], seconds=seconds, holder=holder, ids=ids)
            return [restore_record(decode_stored(body), Target) for _, body in chosen.values()]

        # A write to SQLite makes all processes look for changes.
        if not await self._tables.read(has_due):
            return []
        return await self._tables.write(claim)

    @transaction
    def record(self, rows: Rows, target: Target, check: Check, settings: VerifyConfig, *, spread: float = 1.0) -> bool:
        """Store a check of `target` and release its lease; `spread` multiplies the time until the next check.

        Return whether the part that is indexed of the entry has changed. The change log then has a change of the entry,
        if it is visible. A check of an unknown target is ignored.
        """
        mcp_id = mcp_id_of(target.name)
        stored = dict(rows.all(_LOCK_TARGETS, mcp_id=mcp_id))
        if target.id not in stored:
            return False
        before = restore_state(target, stored[target.id])
        state = before.after(check, settings)
        rows.execute(
            _RECORD,
            now=self._time(),
            seconds=spread * wait_of(state, check, settings),
            state=encode_state(state),
            texts=state.texts or None,
            id=target.id,
        )
        if state.texts != before.texts:
            replace_texts(rows, [before.texts], check)
        is_change = summarize_entry(rows, mcp_id)
        if state.tool_changes != before.tool_changes:
            log_change(rows, mcp_id, "tools")
            return True
        return is_change

    @transaction
    def release(self, rows: Rows, holder: str) -> None:
        """Release all leases of `holder`."""
        rows.execute(_RELEASE, holder=holder)

    async def states(self, mcp_id: str) -> Sequence[TargetState]:
        """Return the targets of an entry, remotes first, and what is known of each."""
        return await self._tables.read(lambda rows: states_of(rows, mcp_id))

    @transaction
    def forget(self, rows: Rows, names: Collection[str] | None = None) -> int:
        """Delete the results of the entries `names`, or all results; return the number of entries that had any.

        Their targets are due at once.
        """
        asked = None if names is None else [mcp_id_of(name) for name in names]
        known = rows.all(_ALL_CHECKED) if asked is None else rows.all(_CHECKED_OF, mcp_ids=asked)
        rows.execute(_FORGET, now=self._time(), ids=[number for number, _, _ in known])
        replace_texts(rows, [texts for _, _, texts in known])
        forgotten = sorted({mcp_id for _, mcp_id, _ in known})
        for mcp_id in forgotten:
            summarize_entry(rows, mcp_id)
        return len(forgotten)

    async def due(self, kinds: Collection[TargetKind]) -> int:
        """Return the number of targets that are due."""
        values = {"now": self._time(), "kinds": sorted(kinds)}
        return await self._tables.read(lambda rows: int(rows.one(_COUNT_DUE, **values)[0]))

    async def summaries(self, after: int, limit: int) -> Sequence[Summary]:
        """Return at most `limit` summaries with a revision above `after`, in that order."""
        found = await self._tables.select(_SUMMARIES, after=after, limit=limit)
        return [
            Summary(revision, mcp_id, restore_record(decode_stored(body), Verification))
            for revision, mcp_id, body in found
        ]

    def _time(self) -> float | None:
        return self._now and self._now()


def verifications_of(storage: Storage) -> Verifications:
    """Return the verifications in the tables of `storage`."""
    return Verifications(storage.background_tables, storage.row_clock)

"""The audit log in the tables of the database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import asdict, frozen

from ... import serialization
from ...domain.audit import UNKNOWN, AuditEvent
from ...domain.entries import is_storable
from ...domain.keys import new_id
from ...tables import Rows, Tables, transaction
from .chain import COLUMNS, START, AuditRecord, Checkpoint, columns_of, event_of, hash_of, milliseconds

PAGE = 1_000
"""Records that are read at a time."""

ABANDONED = 900.0
"""Seconds after which an action that was begun and not finished gets an unknown outcome."""

# Writers wait for each other: each needs the hash of the last record. Readers do not wait.
_LOCK = "LOCK TABLE audit IN SHARE ROW EXCLUSIVE MODE"

_LAST = "SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1"

_COLUMNS = ", ".join(COLUMNS)

_ADD = (
    f"INSERT INTO audit (number, hash, {_COLUMNS}) VALUES (:number, :hash, {', '.join(f':{name}' for name in COLUMNS)})"
)

_BEGIN = "INSERT INTO audit_begun (id, at, event) VALUES (:id, :at, :event)"

_END = "DELETE FROM audit_begun WHERE id = :id"

_ABANDONED = "DELETE FROM audit_begun WHERE at < :before RETURNING at, event"

_READ = f"SELECT number, hash, {_COLUMNS} FROM audit WHERE number > :after ORDER BY number LIMIT :limit"

_NEWEST = f"""
    SELECT number, hash, {_COLUMNS} FROM audit
    WHERE number < :before AND at >= :since AND at < :until
        AND (:text = '' OR strpos(lower(subject_name), :text) > 0 OR strpos(lower(action), :text) > 0
            OR strpos(lower(target), :text) > 0 OR subject_id = :text OR key_id = :text OR request_id = :text)
        AND (:outcome = '' OR outcome = :outcome OR (:outcome = 'failed' AND outcome <> 'done'))
    ORDER BY number DESC LIMIT :limit
"""

_CHECKPOINTS = "SELECT number, hash, is_base, signature FROM audit_checkpoint ORDER BY number"

_LAST_CHECKPOINT = "SELECT number, hash FROM audit_checkpoint ORDER BY number DESC LIMIT 1"

_CHECK = """
    INSERT INTO audit_checkpoint (number, hash, is_base, signature) VALUES (:number, :hash, :is_base, :signature)
    ON CONFLICT (number) DO UPDATE SET hash = excluded.hash, is_base = excluded.is_base, signature = excluded.signature
"""

_OLD = """
    SELECT number, hash FROM audit
    WHERE at < :before OR number <= (SELECT max(number) FROM audit) - CAST(:most AS bigint)
    ORDER BY number DESC LIMIT 1
"""

_FORGET = "DELETE FROM audit WHERE number <= :number"

_FORGET_CHECKPOINTS = "DELETE FROM audit_checkpoint WHERE number < :number"

_LARGEST = 2**63 - 1


@frozen
class AuditLog:
    """The records, the actions that are not finished, and the checkpoints. All methods raise Unavailable."""

    _tables: Tables

    async def begin(self, event: AuditEvent) -> str:
        """Store an action that is not done yet; return its id."""
        begun, encoded = f"{new_id()}{new_id()}", serialization.text(columns_of(event))
        await self._tables.write(lambda rows: rows.execute(_BEGIN, id=begun, at=event.at, event=encoded))
        return begun

    @transaction
    def add(self, rows: Rows, *events: AuditEvent, begun: str = "") -> None:
        """Append records in one transaction, and delete the action `begun`."""
        rows.lock(_LOCK)
        _append(rows, events)
        if begun:
            rows.execute(_END, id=begun)

    @transaction
    def finish_abandoned(self, rows: Rows, now: float) -> int:
        """Append the actions that have been begun for ABANDONED seconds; return their number."""
        rows.lock(_LOCK)
        found = sorted(rows.all(_ABANDONED, before=now - ABANDONED))
        _append(rows, [_abandoned(event) for _, event in found])
        return len(found)

    async def read(self, after: int, limit: int = PAGE) -> Sequence[AuditRecord]:
        """Return at most `limit` records after the one with a number, in order."""
        return [_record(row) for row in await self._tables.select(_READ, after=after, limit=limit)]

    async def newest(
        self,
        limit: int,
        *,
        before: int | None = None,
        text: str = "",
        outcome: str = "",
        since: float = 0.0,
        until: float | None = None,
    ) -> Sequence[AuditRecord]:
        """Return at most `limit` records, the newest first, with smaller numbers than `before`.

        They have `text` in the name of the subject, the action or the target, or it is an id, and this `outcome`, or
        any but `done` if it is `failed`. `since` and `until` are in seconds since the epoch.
        """
        if not (is_storable(text) and is_storable(outcome)):
            return []
        values: dict[str, Any] = {
            "before": _LARGEST if before is None else before,
            "text": text.lower(),
            "outcome": outcome,
            "since": milliseconds(since),
            "until": _LARGEST if until is None else milliseconds(until),
            "limit": limit,
        }
        return [_record(row) for row in await self._tables.select(_NEWEST, **values)]

    async def checkpoints(self) -> Sequence[Checkpoint]:
        """Return the checkpoints, ordered by number."""
        found = await self._tables.select(_CHECKPOINTS)
        return [Checkpoint(number, hashed, bool(is_base), signature) for number, hashed, is_base, signature in found]

    @transaction
    def check(self, rows: Rows, key: bytes) -> None:
        """Store a checkpoint of the last record, unless there is one."""
        rows.lock(_LOCK)
        number, last = _last(rows)
        stored = rows.one(_LAST_CHECKPOINT)
        if number and (stored is None or stored[0] < number):
            _put(rows, Checkpoint(number, last).sign(key))

    @transaction
    def forget(self, rows: Rows, before: float, most: int, key: bytes) -> None:
        """Delete the records before a time, in seconds since the epoch, and those beyond `most`.

        The last deleted one gets a checkpoint, from which the chain goes on.
        """
        rows.lock(_LOCK)
        found = rows.one(_OLD, before=milliseconds(before), most=most)
        if found is not None:
            _put(rows, Checkpoint(found[0], found[1], is_base=True).sign(key))
            rows.execute(_FORGET, number=found[0])
            rows.execute(_FORGET_CHECKPOINTS, number=found[0])


def _append(rows: Rows, events: Sequence[AuditEvent]) -> None:
    number, previous = _last(rows)
    added = []
    for event in events:
        number += 1
        previous = hash_of(number, event, previous)
        added.append({"number": number, "hash": previous, **columns_of(event)})
    rows.many(_ADD, added)


def _last(rows: Rows) -> tuple[int, str]:
    """Return the number and the hash of the last record, deleted or not."""
    row = rows.one(_LAST) or rows.one(_LAST_CHECKPOINT) or (START.number, START.hash)
    return row[0], row[1]


def _put(rows: Rows, checkpoint: Checkpoint) -> None:
    rows.execute(_CHECK, **asdict(checkpoint))


def _abandoned(encoded: str) -> AuditEvent:
    """Return the event of an action that was begun, with an unknown outcome."""
    *columns, _ = serialization.decode(encoded.encode()).values()
    return event_of([*columns, UNKNOWN])


def _record(row: Sequence[Any]) -> AuditRecord:
    number, hashed, *columns = row
    return AuditRecord(number, event_of(columns), hashed)

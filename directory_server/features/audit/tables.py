"""The audit log in the tables of the database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

from attrs import asdict, frozen

from ... import serialization
from ...domain.audit import DONE, UNKNOWN, Actor, AuditEvent
from ...domain.entries import is_storable
from ...domain.keys import new_id
from ...tables import Rows, Tables, transaction
from .chain import (
    COLUMNS,
    START,
    AuditRecord,
    Checkpoint,
    columns_of,
    event_of,
    hash_of,
    milliseconds,
    verify,
)
from .settings import UPKEEP

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

_CHECKPOINTS = "SELECT number, hash, is_base, signature, at FROM audit_checkpoint ORDER BY number"

_BASE = "SELECT number, hash, is_base, signature, at FROM audit_checkpoint WHERE is_base ORDER BY number LIMIT 1"

_LAST_CHECKPOINT = "SELECT number, hash, is_base, at FROM audit_checkpoint ORDER BY number DESC LIMIT 1"

_CHECK = """
    INSERT INTO audit_checkpoint (number, hash, is_base, signature, at)
    VALUES (:number, :hash, :is_base, :signature, :at)
    ON CONFLICT (number) DO UPDATE SET
        hash = excluded.hash, is_base = excluded.is_base, signature = excluded.signature, at = excluded.at
"""

_DROP = "DELETE FROM audit_checkpoint WHERE number = :number"

_OLDEST = "SELECT number, at FROM audit ORDER BY number LIMIT :limit"

_HASH = "SELECT hash FROM audit WHERE number = :number"

DELETED = "old records deleted"
"""The action of the record of a deletion."""

SHARE = 0.01
"""Of the records, at most this share is deleted at a time because of its age: a wrong clock must not delete the log."""

DELAY = 0.01
"""Part of the time of records by which the oldest may be older, so that there are few deletions, which are records."""

_FORGET = "DELETE FROM audit WHERE number <= :number"

_FORGET_CHECKPOINTS = "DELETE FROM audit_checkpoint WHERE number < :number"

MOST = 100 * PAGE
"""Records that are deleted at a time, after they were verified."""

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
        return [_checkpoint(row) for row in await self._tables.select(_CHECKPOINTS)]

    async def head(self, now: float, key: bytes) -> Checkpoint:
        """Return a checkpoint of the last record, which is not stored. `now` is in seconds since the epoch."""
        return Checkpoint(*await self._tables.read(_last), at=milliseconds(now)).sign(key)

    async def has(self, head: Checkpoint, key: bytes) -> bool:
        """Return whether the log has the record of a checkpoint, or has deleted it because of its age."""
        if (row := await self._tables.one(_HASH, number=head.number)) is not None:
            return bool(row[0] == head.hash)
        base = await self._tables.read(_base)
        return head.number <= base.number and _is_trusted(base, key)

    @transaction
    def trust(self, rows: Rows, key: bytes) -> None:
        """Sign the checkpoint before the first record, and delete others without the signature of `key`."""
        rows.lock(_LOCK)
        if not _is_trusted(base := _base(rows), key):
            _put(rows, base.sign(key))
        others = [checkpoint for checkpoint in map(_checkpoint, rows.all(_CHECKPOINTS)) if not checkpoint.is_base]
        rows.many(_DROP, [{"number": other.number} for other in others if not other.is_signed(key)])

    @transaction
    def check(self, rows: Rows, now: float, key: bytes) -> Checkpoint:
        """Store a checkpoint of the last record with the time, in seconds since the epoch; return it.

        A later one of the same record stays, and a base without the signature of `key`, which somebody has forged.
        """
        rows.lock(_LOCK)
        number, hashed = _last(rows)
        last, _, is_base, at = rows.one(_LAST_CHECKPOINT) or (-1, "", False, 0)
        is_base = number == START.number or (number == last and bool(is_base))
        checkpoint = Checkpoint(number, hashed, is_base, at=milliseconds(now)).sign(key)
        if last < number or (at < checkpoint.at and (not is_base or _is_trusted(_base(rows), key))):
            _put(rows, checkpoint)
        return checkpoint

    @transaction
    def forget(self, rows: Rows, now: float, keep: float, most: int, key: bytes) -> Sequence[str]:
        """Delete records older than `keep` seconds up to the first younger one, and those beyond `most`.

        At most a SHARE is deleted because of its age, more if `keep` is short. The last deleted one gets a checkpoint,
        from which the chain goes on, and the deletion is a record. Nothing is deleted, and what is wrong returned, if
        the records to delete are not an unbroken chain: a signature would hide who has changed them.
        """
        rows.lock(_LOCK)
        (first, _), (last, _), base = rows.one(_OLDEST, limit=1) or (0, 0), _last(rows), _base(rows)
        count, end, latest = last - first + 1 if first else 0, 0, milliseconds(now)
        limit = int(count * min(max(SHARE, 2 * UPKEEP / keep), 1)) + 1
        # A record of a clock that was ahead does not end the run.
        run = [*takewhile(lambda row: not latest - keep * 1_000 <= row[1] <= latest, rows.all(_OLDEST, limit=limit))]
        if any(at < milliseconds(now - keep * (1 + DELAY)) for _, at in run):
            end = run[-1][0]
        if count > most * (1 + SHARE):
            end = max(end, last - most)
        end = min(end, base.number + MOST)
        if not _is_trusted(base, key):
            return [f"The base {base.number} is not signed."]
        if problems := verify(_run(rows, base.number, end), [base], b"").problems:
            return problems
        if end:
            _append(rows, [AuditEvent(now, Actor("anonymous"), DELETED, target=f"{first} to {end}", outcome=DONE)])
            hashed = rows.one(_HASH, number=end)[0]
            _put(rows, Checkpoint(end, hashed, is_base=True, at=milliseconds(now)).sign(key))
            rows.execute(_FORGET, number=end)
            rows.execute(_FORGET_CHECKPOINTS, number=end)
        return ()


def _is_trusted(base: Checkpoint, key: bytes) -> bool:
    """Return whether the server has written `base`: with a key, somebody else cannot sign another one."""
    return not key or base.number == START.number or base.is_signed(key)


def _base(rows: Rows) -> Checkpoint:
    row = rows.one(_BASE)
    return START if row is None else _checkpoint(row)


def _checkpoint(row: Sequence[Any]) -> Checkpoint:
    number, hashed, is_base, signature, at = row
    return Checkpoint(number, hashed, bool(is_base), signature, at)


def _run(rows: Rows, after: int, end: int) -> Iterator[AuditRecord]:
    """Return the records after the one with a number, up to `end`."""
    while page := rows.all(_READ, after=after, limit=max(0, min(PAGE, end - after))):
        yield from map(_record, page)
        after = page[-1][0]


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

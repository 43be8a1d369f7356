"""Visibility of names: read under the lock of publishers, updated and logged when records or flags change."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from attrs import define, field, frozen

from ..domain.changes import ChangeKind
from ..domain.entries import mcp_id_of
from ..domain.versions import Record
from ..domain.visibility import COUNT_DELTA, Flags, Transition, Visibility, transition
from ._connection import NOW, Cursor, Statement
from ._pulse import CHANNEL

_LOCK = "SELECT pg_advisory_xact_lock(0, 1)"

_ENTRIES = """
    SELECT name, visible_id, preferred_id, seq, hidden, pinned, allowed, curated FROM entry WHERE name = ANY($1::text[])
"""

_RECORDS = """
    SELECT name, id, octet_length(body), written, source, version, latest, deleted, published_at, fingerprint
    FROM record WHERE name = ANY($1::text[])
"""

_LAST = "SELECT seq, total FROM change ORDER BY seq DESC LIMIT 1"

_LOG = f"""
    INSERT INTO change (seq, kind, mcp_id, total, at)
    SELECT $1::bigint + position, kind, mcp_id, total, {NOW}
    FROM unnest($2::text[], $3::text[], $4::bigint[]) WITH ORDINALITY AS logged (kind, mcp_id, total, position)
"""

_UPDATE = f"""
    INSERT INTO entry (mcp_id, name, visible_id, preferred_id, curated, seq, updated_at)
    SELECT mcp_id, name, visible_id, preferred_id, curated, seq, {NOW}
    FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::boolean[], $6::bigint[])
        AS updated (mcp_id, name, visible_id, preferred_id, curated, seq)
    ON CONFLICT (mcp_id) DO UPDATE SET
        visible_id = excluded.visible_id, preferred_id = excluded.preferred_id, curated = excluded.curated,
        seq = excluded.seq, updated_at = excluded.updated_at
"""

_MOVE = """
    UPDATE entry SET visible_id = moved.visible_id, preferred_id = moved.preferred_id
    FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS moved (mcp_id, visible_id, preferred_id)
    WHERE entry.mcp_id = moved.mcp_id
"""

_SEEN = "UPDATE entry SET seq = $1 WHERE mcp_id = $2"

_NAME = "SELECT name FROM entry WHERE mcp_id = $1"

_WAKE = f"SELECT pg_notify('{CHANNEL}', $1)"


@frozen
class StoredRecord:
    """A record, with the id of its row and the bytes of its document. `record.id` is the row's `written`."""

    row: int
    size: int
    record: Record


@define
class StoredName:
    """A name with its records by source and version, as they are now, and its visibility `before` the transaction.

    `before` has ids of rows. `seq` is the latest change, 0 if there is none.
    """

    name: str
    before: Visibility = field(factory=Visibility)
    seq: int = 0
    flags: Flags = field(factory=Flags)
    records: dict[tuple[str, str], StoredRecord] = field(factory=dict)

    @property
    def mcp_id(self) -> str:
        return mcp_id_of(self.name)

    def of_source(self, source: str) -> list[StoredRecord]:
        """Return the records of `source`."""
        return [each for each in self.records.values() if each.record.source == source]


@frozen
class Locked:
    """What is stored of `names`, and the `last` change of the log, while the transaction holds the lock of publishers.

    `total` is the number of visible entries, `rows` the results of the statements that were given to `lock_names`.
    """

    names: dict[str, StoredName]
    last: int
    total: int
    rows: Sequence[list[Any]]

    def notification(self) -> Statement:
        """Return the statement that tells all processes of the last change, once the transaction is committed."""
        return _WAKE, [f"change {max([self.last, *(stored.seq for stored in self.names.values())])}"]


def lock_publishers(cursor: Cursor) -> None:
    """Wait until no other transaction writes records or flags: the order of the log is the order of commits."""
    cursor.execute(_LOCK)


def lock_names(cursor: Cursor, names: Collection[str], *statements: Statement) -> Locked:
    """Wait until no other transaction writes records or flags; return what is stored of each of `names`.

    The transaction of `cursor` holds the lock until its end. The `statements` run in the same round trip.
    """
    found = {name: StoredName(name) for name in names}
    asked = [list(found)]
    _, records, entries, log, *rows = cursor.together(
        (_LOCK, ()), (_RECORDS, asked), (_ENTRIES, asked), (_LAST, ()), *statements
    )
    for name, row, size, *fields in records:
        record = Record(*fields)
        found[name].records[record.source, record.version] = StoredRecord(row, size, record)
    for name, visible, preferred, seq, hidden, pinned, allowed, curated in entries:
        stored = found[name]
        fingerprints = {each.row: each.record.fingerprint for each in stored.records.values()}
        stored.before = Visibility(
            visible_id=visible,
            visible_fingerprint=fingerprints.get(visible),
            preferred_id=preferred,
            preferred_fingerprint=fingerprints.get(preferred),
            pinned=pinned,
            curated=curated,
        )
        stored.seq = seq
        stored.flags = Flags(hidden, pinned, allowed)
    last, total = log[0] if log else (0, 0)
    return Locked(found, last, total, rows)


@frozen
class _Updated:
    """A name whose visibility changes, and the ids of the rows of its visible and preferred record."""

    stored: StoredName
    change: Transition
    visible_id: int | None
    preferred_id: int | None

    @property
    def is_moved(self) -> bool:
        before = self.stored.before
        return (before.visible_id, before.preferred_id) != (self.visible_id, self.preferred_id)


def visibility_updates(locked: Locked, names: Iterable[StoredName], sources: Sequence[str]) -> Sequence[Statement]:
    """Return the statements that store the visibility of `names` after a change of their records or flags.

    They also log the changes of visible entries. `names` are of `locked`. `sources` is the order of precedence.
    """
    updates = [_updated(each, sources) for each in names]
    logged = [(each.change.kind, each.stored) for each in updates if each.change.kind is not None]
    statements = list(_logging(locked, logged))
    if written := [each for each in updates if each.change.is_update]:
        fields = [
            [each.stored.mcp_id for each in written],
            [each.stored.name for each in written],
            [each.visible_id for each in written],
            [each.preferred_id for each in written],
            [each.change.after.curated for each in written],
            [each.stored.seq for each in written],
        ]
        statements.append((_UPDATE, fields))
    if moved := [each for each in updates if each.is_moved and not each.change.is_update]:
        fields = [
            [each.stored.mcp_id for each in moved],
            [each.visible_id for each in moved],
            [each.preferred_id for each in moved],
        ]
        statements.append((_MOVE, fields))
    return statements


def log_change(cursor: Cursor, mcp_id: str) -> None:
    """Log a change of the entry `mcp_id`, if it is visible, that is not one of its records or flags."""
    row = cursor.one(_NAME, mcp_id)
    if row is None:
        return
    (name,) = row
    locked = lock_names(cursor, [name])
    stored = locked.names[name]
    if stored.before.visible_id is not None:
        logging = _logging(locked, [("changed", stored)])
        cursor.together(*logging, (_SEEN, [stored.seq, stored.mcp_id]), locked.notification())


def _updated(stored: StoredName, sources: Sequence[str]) -> _Updated:
    rows = {each.record.id: each.row for each in stored.records.values()}
    records = sorted((each.record for each in stored.records.values()), key=lambda record: record.id)
    change = transition(stored.before, stored.flags, records, sources)
    visible, preferred = change.after.visible_id, change.after.preferred_id
    return _Updated(
        stored,
        change,
        visible_id=None if visible is None else rows[visible],
        preferred_id=None if preferred is None else rows[preferred],
    )


def _logging(locked: Locked, logged: Sequence[tuple[ChangeKind, StoredName]]) -> Sequence[Statement]:
    """Return the statement that logs changes of the visible entry of names, and set the `seq` of these names."""
    if not logged:
        return []
    total = locked.total
    totals: list[int] = []
    for number, (kind, stored) in enumerate(logged, locked.last + 1):
        stored.seq = number
        total += COUNT_DELTA[kind]
        totals.append(total)
    kinds, mcp_ids = [kind for kind, _ in logged], [stored.mcp_id for _, stored in logged]
    return [(_LOG, [locked.last, kinds, mcp_ids, totals])]

"""Visibility of names: read under the lock of publishers, updated and logged when records or flags change."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from attrs import define, field, frozen

from ..domain.changes import ChangeKind
from ..domain.entries import mcp_id_of
from ..domain.versions import Record
from ..domain.visibility import COUNT_DELTA, Flags, Transition, Visibility, transition
from ._tables import Row, Rows, Statement

CHANNEL = "directory"
"""The channel on which publishers, and transactions that end keys, notify in PostgreSQL."""

PUBLISHERS = "SELECT pg_advisory_xact_lock(0, 1)"
"""Waits until no other transaction writes records or flags: the order of the log is the order of commits."""

_ENTRIES = """
    SELECT name, visible_id, preferred_id, seq, hidden, pinned, allowed, curated FROM entry WHERE name = ANY(:names)
"""

_RECORDS = """
    SELECT name, id, octet_length(body), record.written, source, version, latest, deleted, published_at, fingerprint
    FROM record WHERE name = ANY(:names)
"""

_LAST = "SELECT seq, total FROM change ORDER BY seq DESC LIMIT 1"

_LOG = """
    INSERT INTO change (seq, kind, mcp_id, total, cause, at)
    SELECT seq, kind, mcp_id, total, cause, clock_seconds()
    FROM input(seq bigint, kind text, mcp_id text, total bigint, cause text)
"""

_UPDATE = """
    INSERT INTO entry (mcp_id, name, visible_id, preferred_id, curated, seq, updated_at)
    SELECT mcp_id, name, visible_id, preferred_id, curated, seq, clock_seconds()
    FROM input(mcp_id text, name text, visible_id bigint, preferred_id bigint, curated boolean, seq bigint) WHERE true
    ON CONFLICT (mcp_id) DO UPDATE SET
        visible_id = excluded.visible_id, preferred_id = excluded.preferred_id, curated = excluded.curated,
        seq = excluded.seq, updated_at = excluded.updated_at
"""

_MOVE = """
    UPDATE entry SET visible_id = input.visible_id, preferred_id = input.preferred_id
    FROM input(mcp_id text, visible_id bigint, preferred_id bigint) WHERE entry.mcp_id = input.mcp_id
"""

_SEEN = "UPDATE entry SET seq = :seq WHERE mcp_id = :mcp_id"

_NAME = "SELECT name FROM entry WHERE mcp_id = :mcp_id"

_WAKE = f"SELECT pg_notify('{CHANNEL}', CAST(:payload AS text))"


@frozen
class StoredRecord:
    """A record, with the id of its row and the bytes of its document. `record.id` is the order of writing."""

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
        return [stored for stored in self.records.values() if stored.record.source == source]


@frozen
class Locked:
    """What is stored of `names`, and the `last` change of the log, while the transaction holds the lock of publishers.

    `total` is the number of visible entries, `rows` the results of the statements that were given to `lock_names`.
    """

    names: dict[str, StoredName]
    last: int
    total: int
    rows: Sequence[list[Row]]

    def notification(self) -> Statement:
        """Return the statement that tells all processes of the last change, once the transaction is committed."""
        last = max([self.last, *(stored.seq for stored in self.names.values())])
        return _WAKE, {"payload": f"change {last}"}


def lock_names(rows: Rows, names: Collection[str], *statements: Statement) -> Locked:
    """Wait until no other transaction writes records or flags; return what is stored of each of `names`.

    The transaction holds the lock until its end. The `statements` run in the same round trip.
    """
    found = {name: StoredName(name) for name in names}
    values = {"names": list(found)}
    _, records, entries, log, *others = rows.together(
        (PUBLISHERS, {}), (_RECORDS, values), (_ENTRIES, values), (_LAST, {}), *statements
    )
    for name, row, size, written, source, version, latest, deleted, *rest in records:
        record = Record(written, source, version, bool(latest), bool(deleted), *rest)
        found[name].records[source, version] = StoredRecord(row, size, record)
    for name, visible, preferred, seq, hidden, pinned, allowed, curated in entries:
        stored = found[name]
        fingerprints = {kept.row: kept.record.fingerprint for kept in stored.records.values()}
        stored.before = Visibility(
            visible_id=visible,
            visible_fingerprint=fingerprints.get(visible),
            preferred_id=preferred,
            preferred_fingerprint=fingerprints.get(preferred),
            pinned=bool(pinned),
            curated=bool(curated),
        )
        stored.seq = seq
        stored.flags = Flags(bool(hidden), bool(pinned), bool(allowed))
    last, total = log[0] if log else (0, 0)
    return Locked(found, last, total, others)


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

    @property
    def ids(self) -> dict[str, object]:
        return {"mcp_id": self.stored.mcp_id, "visible_id": self.visible_id, "preferred_id": self.preferred_id}


def visibility_updates(locked: Locked, names: Iterable[StoredName], sources: Sequence[str]) -> Sequence[Statement]:
    """Return the statements that store the visibility of `names` after a change of their records or flags.

    They also log the changes of visible entries. `names` are of `locked`. `sources` is the order of precedence.
    """
    updates = [_updated(stored, sources) for stored in names]
    logged = [(update.change.kind, update.stored) for update in updates if update.change.kind is not None]
    statements = list(_logging(locked, logged))
    written = [
        {
            **update.ids,
            "name": update.stored.name,
            "curated": update.change.after.curated,
            "seq": update.stored.seq,
        }
        for update in updates
        if update.change.is_update
    ]
    moved = [update.ids for update in updates if update.is_moved and not update.change.is_update]
    return [*statements, *((statement, found) for statement, found in ((_UPDATE, written), (_MOVE, moved)) if found)]


def log_change(rows: Rows, mcp_id: str, cause: str = "") -> None:
    """Log a change of the entry `mcp_id`, if it is visible, that is not one of its records or flags.

    The kind of the change is "changed", with a `cause` that and an underscore before it.
    """
    row = rows.one(_NAME, mcp_id=mcp_id)
    if row is None:
        return
    (name,) = row
    locked = lock_names(rows, [name])
    stored = locked.names[name]
    if stored.before.visible_id is not None:
        logging = _logging(locked, [("changed", stored)], cause)
        rows.together(*logging, (_SEEN, {"seq": stored.seq, "mcp_id": mcp_id}), locked.notification())


def _updated(stored: StoredName, sources: Sequence[str]) -> _Updated:
    rows = {kept.record.id: kept.row for kept in stored.records.values()}
    records = sorted((kept.record for kept in stored.records.values()), key=lambda record: record.id)
    change = transition(stored.before, stored.flags, records, sources)
    visible, preferred = change.after.visible_id, change.after.preferred_id
    return _Updated(
        stored,
        change,
        visible_id=None if visible is None else rows[visible],
        preferred_id=None if preferred is None else rows[preferred],
    )


def _logging(locked: Locked, logged: Sequence[tuple[ChangeKind, StoredName]], cause: str = "") -> Sequence[Statement]:
    """Return the statement that logs changes of the visible entry of names, and set the `seq` of these names."""
    total = locked.total
    changes = []
    for number, (kind, stored) in enumerate(logged, locked.last + 1):
        stored.seq = number
        total += COUNT_DELTA[kind]
        changes.append({"seq": number, "kind": kind, "mcp_id": stored.mcp_id, "total": total, "cause": cause})
    return [(_LOG, changes)] if changes else []

"""The lock of publishers: what is stored of names while no other transaction writes records or flags."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from attrs import frozen

from ..domain.versions import Record
from ..domain.visibility import Flags, Visibility
from ._approvals import APPROVED, Digest
from ._names import StoredName, StoredRecord
from ._tables import Row, Rows, Statement

CHANNEL = "directory"
"""The channel on which publishers, and transactions that end keys, notify in PostgreSQL."""

PUBLISHERS = "SELECT pg_advisory_xact_lock(0, 1)"
"""Waits until no other transaction writes records or flags: the order of the log is the order of commits."""

_ENTRIES = """
    SELECT name, visible_id, preferred_id, seq, hidden, pinned, allowed, curated, rule
    FROM entry WHERE name = ANY(:names)
"""

_RECORDS = """
    SELECT name, id, octet_length(body), record.written, source, version, latest, deleted, published_at, fingerprint
    FROM record WHERE name = ANY(:names)
"""

_LAST = "SELECT seq, total FROM change ORDER BY seq DESC LIMIT 1"

_WAKE = f"SELECT pg_notify('{CHANNEL}', CAST(:payload AS text))"


@frozen
class Locked:
    """What is stored of `names`, and the `last` change of the log, while the transaction holds the lock of publishers.

    `total` is the number of visible entries, `rows` the results of the statements that were given to `lock_names`.
    `approved` are the documents of `names` for lists that hold versions.
    """

    names: dict[str, StoredName]
    last: int
    total: int
    approved: Sequence[Digest]
    rows: Sequence[list[Row]]

    def notification(self) -> Statement:
        """Return the statement that tells all processes of the last change, once the transaction is committed."""
        last = max([self.last, *(stored.seq for stored in self.names.values())])
        return _WAKE, {"payload": f"change {last}"}


def lock_names(rows: Rows, names: Collection[str], *statements: Statement) -> Locked:
    """Wait until no other transaction writes records or flags; return what is stored of each of `names`.

    The transaction holds the lock until its end. The `statements` run in the same round trip.
    """
    return read_names(rows, names, (PUBLISHERS, {}), *statements)


def read_names(rows: Rows, names: Collection[str], *statements: Statement) -> Locked:
    """Return what is stored of each of `names`, and the rows of all `statements` but the first, which is the lock."""
    stored_names = {name: StoredName(name) for name in names}
    values = {"names": list(stored_names)}
    first, *further = statements
    _, records, entries, log, approved, *others = rows.together(
        first, (_RECORDS, values), (_ENTRIES, values), (_LAST, {}), (APPROVED, values), *further
    )
    for name, row, size, written, source, version, latest, deleted, *rest in records:
        record = Record(written, source, version, bool(latest), bool(deleted), *rest)
        stored_names[name].records[source, version] = StoredRecord(row, size, record)
    for name, visible, chosen, seq, hidden, pinned, allowed, curated, rule in entries:
        stored = stored_names[name]
        fingerprints = {kept.row: kept.record.fingerprint for kept in stored.records.values()}
        stored.before = Visibility(
            visible_id=visible,
            visible_fingerprint=fingerprints.get(visible),
            preferred_id=chosen,
            preferred_fingerprint=fingerprints.get(chosen),
            pinned=bool(pinned),
            curated=bool(curated),
        )
        stored.seq = seq
        stored.flags = Flags(bool(hidden) and not rule, bool(pinned), bool(allowed), rule)
    last, total = log[0] if log else (0, 0)
    return Locked(stored_names, last, total, approved, others)

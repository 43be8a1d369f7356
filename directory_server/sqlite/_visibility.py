"""What is shown of a name, worked out anew whenever its records or marks change, and logged."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from ..domain.changes import ChangeKind
from ..domain.curation import LOCAL
from ..domain.entries import mcp_id_of
from ..domain.precedence import Record, preferred

NOW = "(julianday('now') - 2440587.5) * 86400.0"
"""Seconds since the epoch, in SQL."""

_STATE = """
    SELECT shown, seen.fingerprint, chosen, first.fingerprint, hidden, pinned, allowed, curated, seq
    FROM entry LEFT JOIN record AS seen ON seen.id = shown LEFT JOIN record AS first ON first.id = chosen
    WHERE entry.name = ?
"""

_RECORDS = """
    SELECT id, source, version, latest, deleted, published_at, fingerprint FROM record WHERE name = ? ORDER BY id
"""

_LOG = """
    INSERT INTO change (kind, mcp_id, total)
    VALUES (?, ?, coalesce((SELECT total FROM change ORDER BY seq DESC LIMIT 1), 0) + ?)
"""

_SETTLE = f"""
    INSERT INTO entry (mcp_id, name, shown, chosen, curated, seq, updated_at) VALUES (?, ?, ?, ?, ?, ?, {NOW})
    ON CONFLICT (mcp_id) DO UPDATE SET
        shown = excluded.shown, chosen = excluded.chosen, curated = excluded.curated, seq = excluded.seq,
        updated_at = excluded.updated_at
"""

_POINT = "UPDATE entry SET shown = ?, chosen = ? WHERE name = ?"

_DELTA: dict[ChangeKind, int] = {"added": 1, "changed": 0, "removed": -1}
"""What a change adds to the number of entries shown."""


class _State(NamedTuple):
    """A name as it is: the ids and fingerprints of the record shown and of the chosen one, and the marks."""

    shown: int | None = None
    shows: bytes | None = None
    chosen: int | None = None
    chooses: bytes | None = None
    hidden: int = 0
    pinned: int = 0
    allowed: int = 0
    curated: int = 0
    seq: int = 0


@contextmanager
def settling(connection: sqlite3.Connection, name: str, sources: Sequence[str]) -> Iterator[None]:
    """At the end of the `with`, show what `name` then has to show, and log it if that is another thing than before.

    In the `with`, in a transaction of `connection`, its records or marks are written.
    """
    before = _state(connection, name)
    yield
    marks = _state(connection, name)
    records = [Record(*fields) for fields in connection.execute(_RECORDS, (name,))]
    chosen = preferred(records, sources)
    shown = None if chosen is None or chosen.deleted or marks.hidden else chosen
    after = marks._replace(
        shown=shown.id if shown else None,
        shows=shown.fingerprint if shown else None,
        chosen=chosen.id if chosen else None,
        chooses=chosen.fingerprint if chosen else None,
        curated=int(bool(marks.pinned or marks.allowed or any(record.source == LOCAL for record in records))),
    )
    mcp_id, seq = mcp_id_of(name), before.seq
    if kind := _kind(before, after):
        seq = connection.execute(_LOG, (kind, mcp_id, _DELTA[kind])).lastrowid or seq
    if kind or (before.chooses, before.curated) != (after.chooses, after.curated):
        connection.execute(_SETTLE, (mcp_id, name, after.shown, after.chosen, after.curated, seq))
    elif (before.shown, before.chosen) != (after.shown, after.chosen):
        # Another record that says the same: nothing to tell anybody.
        connection.execute(_POINT, (after.shown, after.chosen, name))


def _state(connection: sqlite3.Connection, name: str) -> _State:
    return _State(*(connection.execute(_STATE, (name,)).fetchone() or ()))


def _kind(before: _State, after: _State) -> ChangeKind | None:
    """Return what happened to what is shown, None if nothing did."""
    if before.shows is None:
        return None if after.shows is None else "added"
    if after.shows is None:
        return "removed"
    return "changed" if (before.shows, before.pinned) != (after.shows, after.pinned) else None

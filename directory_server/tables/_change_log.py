"""Reading the log of changes and the visible entries, with their analyses."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from ..domain.changes import Change
from ..domain.notes import Note
from ._names import notes_of
from ._scopes import CHANGED_WITHIN, lists_of
from ._tables import Rows

PAGE, SLICE = 4_000, 400
"""Most changes that are read at a time, and most whose notes are."""

_KIND = "CASE WHEN cause = 'tools' THEN 'tools_changed' ELSE kind END"

_SIZES = "octet_length(record.body), stored_analysis_size"

_RULED_ID = "coalesce(visible_id, CASE WHEN rule <> '' THEN preferred_id END)"
"""The visible record of a name, or the preferred one of a name that a rule of the policy hides."""


def _current_of(shown_id: str) -> str:
    """Return the query of entries with the id of the record that is read of each. A hidden name may be in no change.

    The inner query is limited, so that the joins do not read whole tables.
    """
    return f"""
        SELECT page.seq, change.mark, coalesce({_KIND}, 'added'), coalesce(cause, ''), page.mcp_id, page.name, pinned,
            record.id, {_SIZES}
        FROM (
            SELECT seq, mcp_id, name, pinned, {shown_id} AS shown_id FROM entry
            WHERE mcp_id > :after AND {shown_id} IS NOT NULL ORDER BY mcp_id LIMIT :limit
        ) AS page
        INNER JOIN record ON record.id = shown_id LEFT JOIN change ON change.seq = page.seq
        ORDER BY page.mcp_id
    """


def _changes_of(shown_id: str) -> str:
    """Return the query of changes with the id of the record that is read of each."""
    return f"""
        SELECT page.seq, page.mark, {_KIND}, cause, page.mcp_id, entry.name, pinned, record.id, {_SIZES}
        FROM (
            SELECT seq, change.mark AS mark, kind, cause, mcp_id FROM change WHERE seq > :after ORDER BY seq
            LIMIT :limit
        ) AS page
        INNER JOIN entry ON entry.mcp_id = page.mcp_id LEFT JOIN record ON record.id = {shown_id}
        ORDER BY page.seq
    """


_CURRENT = {False: _current_of("visible_id"), True: _current_of(_RULED_ID)}

_CHANGES = {False: _changes_of("visible_id"), True: _changes_of(_RULED_ID)}
"""Statements, without and with the names that a rule of the policy hides."""

_CHANGES_WITHIN = _CHANGES[False].replace("WHERE seq > :after", f"WHERE seq > :after AND {CHANGED_WITHIN}")

_HAS_CHANGES = "SELECT 1 FROM change WHERE seq > :after ORDER BY seq LIMIT 1"

_HAS_CHANGES_WITHIN = _HAS_CHANGES.replace("ORDER BY", f"AND {CHANGED_WITHIN} ORDER BY")

_DOCUMENTS = """
    SELECT record.id, record.fingerprint, record.body, stored_analysis FROM record WHERE record.id = ANY(:ids)
"""


@frozen
class LoggedChange:
    """A change, and the row and the fingerprint of the document of the now visible entry, None if it has none.

    `mark` is random; another one for the same `seq` shows that the database was restored. SQLite has none.
    `change.analysed` is None if no analysis of the version is stored.
    """

    change: Change
    mark: int | None
    row: int | None = None
    fingerprint: bytes = b""


def current(rows: Rows, after: str, limit: int, most: int, analysis: str, *, ruled: bool) -> list[LoggedChange]:
    """Return the visible entries after the id `after`, for Store.current; `analysis` is a version of the Analysis."""
    return _read(rows, _CURRENT[ruled], after, limit, most, analysis)


def changes(
    rows: Rows,
    after: int,
    limit: int,
    most: int,
    analysis: str,
    *,
    ruled: bool = False,
    scope: Sequence[str] | None = None,
) -> list[LoggedChange]:
    """Return the changes after the `seq` `after`, for Store.changes; `analysis` is a version of the Analysis.

    With the lists of a `scope`, return those that its readers see.
    """
    if scope is None:
        return _read(rows, _CHANGES[ruled], after, limit, most, analysis)
    return _read(rows, _CHANGES_WITHIN, after, limit, most, analysis, scope=scope)


def has_changes(rows: Rows, after: int, scope: Sequence[str] | None = None) -> bool:
    """Return whether there is a change after the `seq` `after`, with a `scope` one that its readers see."""
    if scope is None:
        return rows.one(_HAS_CHANGES, after=after) is not None
    return rows.one(_HAS_CHANGES_WITHIN, after=after, scope=scope) is not None


def _read(
    rows: Rows, query: str, after: int | str, limit: int, most: int, analysis: str, **values: object
) -> list[LoggedChange]:
    """Return the changes of `query`, up to the one that brings the bytes to `most`.

    Ids and sizes are read first, because a page of large documents would not fit into memory.
    """
    page, notes = [], dict[str, Sequence[Note]]()
    rest = rows.all(query, after=after, limit=min(limit, PAGE), analysis=analysis, **values)
    while rest and most > 0:
        # Bodies of notes are read for some entries at a time, too.
        part, rest = rest[:SLICE], rest[SLICE:]
        notes |= notes_of(rows, [row[4] for row in part])
        for row in part:
            page.append(row)
            # By their positions, which is faster than to unpack the row.
            most -= (row[8] or 0) + (row[9] or 0) + sum(len(note.body or b"") for note in notes.get(row[4], ()))
            if most <= 0:
                break
    wanted = {row[7] for row in page if row[7] is not None}
    lists = lists_of(rows, [row[4] for row in page]) if page else {}
    documents = {}
    if wanted:
        documents = {row: fields for row, *fields in rows.all(_DOCUMENTS, ids=list(wanted), analysis=analysis)}
    logged = []
    for seq, mark, kind, cause, mcp_id, name, pinned, visible, _, _ in page:
        fingerprint, body, analysed = documents.get(visible, (b"", None, None))
        listed = lists.get(mcp_id)
        change = Change(
            seq=seq,
            kind=kind,
            mcp_id=mcp_id,
            body=body,
            analysed=analysed,
            pinned=bool(pinned),
            notes=tuple(notes.get(mcp_id, ())),
            lists=() if listed is None else tuple([of for of, _, left_at in listed if left_at is None]),
            left=() if listed is None else tuple([of for of, _, left_at in listed if left_at == seq]),
            joined=() if listed is None else tuple([of for of, joined_at, _ in listed if joined_at == seq]),
            name=name,
            cause=cause,
        )
        logged.append(LoggedChange(change, mark, visible, fingerprint))
    return logged

"""Reading the log of changes and the visible entries, with their analyses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from attrs import frozen

from ..domain.changes import Change, ChangeKind
from ..domain.entries import Entry
from ..serialization import restore_entry
from ._connection import Cursor

T = TypeVar("T")

PAGE = 4_000
"""Most changes that are read at a time."""

# The inner queries are limited, so that the joins do not read whole tables.
_CURRENT = """
    SELECT page.seq, mark, kind, page.mcp_id, pinned, indexed, package_texts.id, visible_id,
        octet_length(package_texts.body), octet_length(record.body), octet_length(analysed.body)
    FROM (
        SELECT seq, mcp_id, pinned, visible_id FROM entry WHERE mcp_id > $1 AND visible_id IS NOT NULL
        ORDER BY mcp_id LIMIT $2
    ) AS page
    JOIN record ON record.id = visible_id JOIN change ON change.seq = page.seq
    LEFT JOIN analysed ON analysed.fingerprint = record.fingerprint AND analysed.version = $3
    LEFT JOIN verification ON verification.mcp_id = page.mcp_id
    LEFT JOIN package_texts ON package_texts.id = verification.texts
    ORDER BY page.mcp_id
"""

_CHANGES = """
    SELECT page.seq, mark, kind, page.mcp_id, pinned, indexed, package_texts.id, visible_id,
        octet_length(package_texts.body), octet_length(record.body), octet_length(analysed.body)
    FROM (SELECT seq, mark, kind, mcp_id FROM change WHERE seq > $1 ORDER BY seq LIMIT $2) AS page
    JOIN entry ON entry.mcp_id = page.mcp_id
    LEFT JOIN record ON record.id = visible_id
    LEFT JOIN analysed ON analysed.fingerprint = record.fingerprint AND analysed.version = $3
    LEFT JOIN verification ON verification.mcp_id = page.mcp_id
    LEFT JOIN package_texts ON package_texts.id = verification.texts
    ORDER BY page.seq
"""

_DOCUMENTS = """
    SELECT record.id, record.fingerprint, record.body, analysed.body
    FROM record LEFT JOIN analysed ON analysed.fingerprint = record.fingerprint AND analysed.version = $2
    WHERE record.id = ANY($1::bigint[])
"""

_TEXTS = "SELECT id, body FROM package_texts WHERE id = ANY($1::text[])"

# The expression is that of the index record_published. Without CASE, the planner takes the two equal columns for
# independent, expects a single row, and sorts all records.
_NEWEST = """
    SELECT record.id FROM record JOIN entry ON entry.name = record.name
    WHERE CASE WHEN visible_id = record.id THEN true END
    ORDER BY least(coalesce(published_at, 0), created_at) DESC, written DESC LIMIT $1
"""

_BODY = "SELECT body FROM record WHERE id = $1"


@frozen
class Document:
    """A visible document; `analysed` is None if no analysis of the present version is stored."""

    fingerprint: bytes
    body: bytes
    analysed: bytes | None


@frozen
class LoggedChange:
    """A change, and what is stored of the now visible entry, None if it has none. `mark` is random.

    The entry has a verification, the texts of a package, and a document.
    """

    seq: int
    mark: int
    kind: ChangeKind
    mcp_id: str
    pinned: bool
    verified: bytes | None
    texts: bytes | None
    document: Document | None

    def change(self, analyses: Mapping[bytes, bytes]) -> Change:
        """Return the change with the stored analysis, else that of `analyses` by the document's fingerprint."""
        found = self.document
        if found is None:
            return Change(self.seq, self.kind, self.mcp_id, None, None, self.pinned, self.verified, self.texts)
        analysed = analyses[found.fingerprint] if found.analysed is None else found.analysed
        return Change(self.seq, self.kind, self.mcp_id, found.body, analysed, self.pinned, self.verified, self.texts)


def current(cursor: Cursor, after: str, limit: int, most: int, analysis: str) -> list[LoggedChange]:
    """Return the visible entries after the id `after`, for Store.current; `analysis` is a version of the Analysis."""
    return _read(cursor, _CURRENT, after, limit, most, analysis)


def changes(cursor: Cursor, after: int, limit: int, most: int, analysis: str) -> list[LoggedChange]:
    """Return the changes after the `seq` `after`, for Store.changes; `analysis` is a version of the Analysis."""
    return _read(cursor, _CHANGES, after, limit, most, analysis)


def newest(cursor: Cursor, limit: int, of: Callable[[Entry], T]) -> list[T]:
    """Return `of(entry)` for the visible entries that were published last, for Store.newest."""
    return [of(restore_entry(cursor.one(_BODY, row)[0])) for (row,) in cursor.all(_NEWEST, limit)]


def _read(cursor: Cursor, query: str, after: int | str, limit: int, most: int, analysis: str) -> list[LoggedChange]:
    """Return the changes of `query`, up to the one that brings the bytes to `most`.

    Ids and sizes are read first, because a page of large documents would not fit into memory.
    """
    rows = []
    for row in cursor.all(query, after, min(limit, PAGE), analysis):
        rows.append(row)
        *_, verified, _, _, texts_size, size, analysed = row
        most -= len(verified or b"") + (texts_size or 0) + (size or 0) + (analysed or 0)
        if most <= 0:
            break
    wanted = {visible for *_, visible, _, _, _ in rows if visible is not None}
    described = {texts for *_, texts, _, _, _, _ in rows if texts is not None}
    bodies = dict(cursor.all(_TEXTS, list(described))) if described else {}
    documents: dict[int, Document] = {}
    if wanted:
        for row, *fields in cursor.all(_DOCUMENTS, list(wanted), analysis):
            documents[row] = Document(*fields)
    return [
        LoggedChange(
            seq=seq,
            mark=mark,
            kind=kind,
            mcp_id=mcp_id,
            pinned=pinned,
            verified=verified,
            # A check may have replaced the texts since. It logs a change.
            texts=bodies.get(texts),
            document=None if visible is None else documents[visible],
        )
        for seq, mark, kind, mcp_id, pinned, verified, texts, visible, _, _, _ in rows
    ]


def missing(found: Sequence[LoggedChange]) -> dict[bytes, bytes]:
    """Return the documents without a stored analysis, by their fingerprints."""
    documents = (each.document for each in found if each.document is not None)
    return {each.fingerprint: each.body for each in documents if each.analysed is None}

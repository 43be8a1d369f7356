"""Queries for registry listings: versions of entries in the order of names.

Each list is read in two steps of one snapshot: ids and sizes first, then only the documents that are within the bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import frozen

from ..domain.versions import Version
from ._connection import Cursor

_CHANGED_AT = "CASE WHEN record.id = preferred_id THEN entry.updated_at ELSE record.updated_at END"

_PUBLISHED_AT = "coalesce(record.published_at, record.created_at)"

_SIZED = "SELECT record.id, octet_length(record.body)"

_LATEST = "FROM entry JOIN record ON record.id = preferred_id"

# Only versions of the preferred source are listed.
_ALL = """
    FROM entry JOIN record AS preferred ON preferred.id = preferred_id
    JOIN record ON record.name = entry.name AND record.source = preferred.source
"""

_FILTER = f"NOT hidden AND (NOT record.deleted OR $2) AND {_CHANGED_AT} >= $3"

# `record.name` is bounded too, because the planner does not conclude it from the join.
_ROWS = {
    "latest": f"{_SIZED} {_LATEST} WHERE entry.name > $1 AND entry.updated_at >= $3 AND {_FILTER}",
    "all": f"""
        {_SIZED} {_ALL} WHERE entry.name >= $1 AND record.name >= $1 AND (entry.name > $1 OR record.version > $5)
            AND {_FILTER}
    """,
    "exact": f"{_SIZED} {_ALL} WHERE entry.name > $1 AND record.name > $1 AND record.version = $5 AND {_FILTER}",
}

_ORDER = {"latest": "entry.name", "all": "entry.name, record.version", "exact": "entry.name"}

_LISTS = {kind: f"{rows} ORDER BY {_ORDER[kind]} LIMIT $4" for kind, rows in _ROWS.items()}

# Statements of their own: a parameter would hide the condition of the index entry_curated from a generic plan.
_CURATED_LISTS = {kind: f"{rows} AND curated ORDER BY {_ORDER[kind]} LIMIT $4" for kind, rows in _ROWS.items()}

_LISTS_OF_NAMES = {
    kind: f"""
        {rows} AND (curated OR NOT ${number}) AND entry.name = ANY(${number + 1}::text[])
        ORDER BY {_ORDER[kind]} LIMIT $4
    """
    for (kind, rows), number in zip(_ROWS.items(), (5, 6, 6), strict=True)
}

MAX_RECENT = 10_000
"""Names that changed since a time, up to which a list reads only these. Of a million names a client that follows the
registry asks for a few; more of them are soon found in the order of names."""

NAMES = 500
"""Names of a statement that reads only given ones."""

# In the order of the index, so that the planner never reads a whole table for the limit.
_RECENT = {
    table: f"SELECT name FROM {table} WHERE updated_at >= $1 ORDER BY updated_at LIMIT {MAX_RECENT + 1}"
    for table in ("entry", "record")
}

_VERSIONS = f"""
    {_SIZED}, record.version {_ALL} WHERE entry.name = $1 AND NOT hidden
    ORDER BY {_PUBLISHED_AT} DESC, record.written DESC
"""

_OF_IDS = f"""
    {_SIZED} FROM unnest($1::text[]) WITH ORDINALITY AS requested (mcp_id, position)
    JOIN entry ON entry.mcp_id = requested.mcp_id JOIN record ON record.id = preferred_id
    WHERE visible_id = preferred_id ORDER BY position
"""

_VERSION_OF_IDS = f"""
    {_SIZED} FROM unnest($1::text[]) WITH ORDINALITY AS requested (mcp_id, position)
    JOIN entry ON entry.mcp_id = requested.mcp_id JOIN record AS first ON first.id = preferred_id
    JOIN record ON record.name = entry.name AND record.source = first.source AND record.version = $2
    WHERE visible_id = preferred_id ORDER BY position
"""

_THE_LATEST = f"{_SIZED} {_LATEST} WHERE entry.name = $1 AND NOT hidden"

_THE_VERSION = f"{_SIZED} {_ALL} WHERE entry.name = $1 AND record.version = $2 AND NOT hidden"

_READ = f"""
    SELECT record.name, record.version, record.body, {_PUBLISHED_AT}, {_CHANGED_AT}, record.id = preferred_id,
        record.deleted, curated
    FROM unnest($1::bigint[]) WITH ORDINALITY AS requested (id, position)
    JOIN record ON record.id = requested.id JOIN entry ON entry.name = record.name
    ORDER BY position
"""


@frozen
class ListingQuery:
    """The arguments of Store.listing; `name` and `version` are the end of the previous page."""

    name: str
    version: str
    limit: int
    versions: str
    updated_since: float
    include_deleted: bool
    curated: bool


def listing(cursor: Cursor, query: ListingQuery, most: int) -> Sequence[Version]:
    """Return the versions that match `query`, about `most` bytes, for Store.listing."""
    kind = query.versions if query.versions in _LISTS else "exact"
    version = {"latest": [], "all": [query.version], "exact": [query.versions]}[kind]
    fields = [query.name, query.include_deleted, query.updated_since, query.limit, *version]
    names = _recent(cursor, query)
    if names is None:
        sizes = cursor.all((_CURATED_LISTS if query.curated else _LISTS)[kind], *fields)
    else:
        sizes = []
        while names and len(sizes) < query.limit:
            sizes += cursor.all(_LISTS_OF_NAMES[kind], *fields, query.curated, names[:NAMES])
            names = names[NAMES:]
    return _read(cursor, sizes[: query.limit], most)


def _recent(cursor: Cursor, query: ListingQuery) -> Sequence[str] | None:
    """Return the names from `query.name` on that changed since `query.updated_since`; None if they may be many."""
    if not query.updated_since:
        return None
    names: set[str] = set()
    # The latest version changes with its entry.
    for table in ("entry",) if query.versions == "latest" else ("entry", "record"):
        rows = cursor.all(_RECENT[table], query.updated_since)
        if len(rows) > MAX_RECENT:
            return None
        names.update(name for (name,) in rows)
    # The order of the collation "C" is that of the bytes in UTF-8, which is that of the code points.
    return sorted(name for name in names if name >= query.name)


def all_versions(cursor: Cursor, name: str, after: str, limit: int, most: int) -> list[Version]:
    """Return versions of `name` after the version `after`, about `most` bytes, for Store.versions."""
    known = cursor.all(_VERSIONS, name)
    begin = 0
    if after:
        begin = next((number for number, (_, _, version) in enumerate(known, 1) if version == after), len(known))
    return _read(cursor, [(row, size) for row, size, _ in known[begin : begin + limit]], most)


def versions_of_ids(cursor: Cursor, mcp_ids: Sequence[str], version: str, most: int) -> Sequence[Version]:
    """Return the latest or another version of `mcp_ids`, about `most` bytes, for Store.latest."""
    if version == "latest":
        return _read(cursor, cursor.all(_OF_IDS, mcp_ids), most)
    return _read(cursor, cursor.all(_VERSION_OF_IDS, mcp_ids, version), most)


def one_version(cursor: Cursor, name: str, version: str) -> Version | None:
    """Return one version of `name`, for Store.version."""
    sizes = cursor.all(_THE_LATEST, name) if version == "latest" else cursor.all(_THE_VERSION, name, version)
    return next(iter(_read(cursor, sizes, 1)), None)


def _read(cursor: Cursor, sizes: Iterable[tuple[int, int]], most: int) -> list[Version]:
    """Return the versions of rows with these ids and sizes, up to the one that brings the bytes to `most`."""
    wanted = []
    for row, size in sizes:
        wanted.append(row)
        most -= size
        if most <= 0:
            break
    return [Version(*fields) for fields in cursor.all(_READ, wanted)] if wanted else []

"""Queries for registry listings: versions of entries in the order of names.

Each list is read in two steps of one snapshot: ids and sizes first, then only the documents that are within the bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from attrs import asdict, frozen

from ..domain.entries import Entry
from ..domain.kinds import KINDS
from ..domain.versions import Version, VersionFilter
from ..serialization import restore_entry
from ._tables import Rows

T = TypeVar("T")

_CHANGED_AT = "CASE WHEN record.id = preferred_id THEN entry.updated_at ELSE record.updated_at END"

_PUBLISHED_AT = "coalesce(record.published_at, record.created_at)"

_SIZED = "SELECT record.id, octet_length(record.body)"

_LATEST = "FROM entry INNER JOIN record ON record.id = preferred_id"

# Only versions of the preferred source are listed.
_ALL = """
    FROM entry INNER JOIN record AS preferred ON preferred.id = preferred_id
    INNER JOIN record ON record.name = entry.name AND record.source = preferred.source
"""

# The index record_version has the versions in the order of names.
_EXACT = """
    FROM record INNER JOIN entry ON entry.name = record.name
    INNER JOIN record AS preferred ON preferred.id = preferred_id AND preferred.source = record.source
"""

_FILTER = f"NOT hidden AND (NOT record.deleted OR :include_deleted) AND {_CHANGED_AT} >= :updated_since"

# The word for the kind in a name. Those of servers have none. Without CASE, the planner of PostgreSQL expects nearly
# no name to be that of a server, and reads all rows.
_HAS_KIND = " OR ".join(f"strpos(entry.name, '/{kind}:') > 0" for kind in KINDS)
_IS_SERVER = f"CASE WHEN {_HAS_KIND} THEN false ELSE true END"

_FROM = {"latest": _LATEST, "all": _ALL, "exact": _EXACT}

_CONDITION = {
    "latest": "entry.updated_at >= :updated_since",
    "all": "(entry.name > :name OR record.version > :version)",
    "exact": "record.version = :versions",
}

# `record.name` is bounded too, because the planner of PostgreSQL does not conclude it from the join.
_AFTER = {
    "latest": "entry.name > :name",
    "all": "entry.name >= :name AND record.name >= :name",
    "exact": "entry.name > :name AND record.name > :name",
}

# Of the table that is read first.
_NAME = {"latest": "entry.name", "all": "entry.name", "exact": "record.name"}

_ORDER = {"latest": "entry.name", "all": "entry.name, record.version", "exact": "record.name"}

_ROWS = {
    kind: f"{_SIZED} {_FROM[kind]} WHERE {_CONDITION[kind]} AND {_FILTER} AND (:every_kind OR ({_IS_SERVER}))"
    for kind in _FROM
}

_LISTS = {kind: f"{rows} AND {_AFTER[kind]} ORDER BY {_ORDER[kind]} LIMIT :limit" for kind, rows in _ROWS.items()}

# Statements of their own: a parameter would hide the condition of the index entry_curated from a generic plan.
_CURATED_LISTS = {
    kind: f"{rows} AND curated AND {_AFTER[kind]} ORDER BY {_ORDER[kind]} LIMIT :limit" for kind, rows in _ROWS.items()
}

_LISTS_OF_NAMES = {
    kind: f"""
        {rows} AND (curated OR NOT :curated) AND {_NAME[kind]} = ANY(:names) ORDER BY {_ORDER[kind]} LIMIT :limit
    """
    for kind, rows in _ROWS.items()
}

MAX_RECENT = 10_000
"""Names that changed since a time, up to which a list reads only these. Of a million names a client that follows the
registry asks for a few; more of them are soon found in the order of names."""

NAMES = 500
"""Names of a statement that reads only given ones."""

# In the order of the index, so that PostgreSQL never reads a whole table for the limit.
_RECENT = {
    table: f"SELECT name FROM {table} WHERE updated_at >= :since ORDER BY updated_at LIMIT {MAX_RECENT + 1}"
    for table in ("entry", "record")
}

_VERSIONS = f"""
    {_SIZED}, record.version {_ALL} WHERE entry.name = :name AND NOT hidden
    ORDER BY {_PUBLISHED_AT} DESC, record.written DESC
"""

_REQUESTED = f"""
    WHERE entry.mcp_id = ANY(:mcp_ids) AND visible_id = preferred_id AND {_FILTER} AND (curated OR NOT :curated)
"""

_OF_IDS = f"{_SIZED}, entry.mcp_id {_LATEST} {_REQUESTED}"

_VERSION_OF_IDS = f"{_SIZED}, entry.mcp_id {_ALL} {_REQUESTED} AND record.version = :version"

_THE_LATEST = f"{_SIZED} {_LATEST} WHERE entry.name = :name AND (NOT hidden OR :include_hidden)"

_THE_VERSION = f"""
    {_SIZED} {_ALL} WHERE entry.name = :name AND record.version = :version AND (NOT hidden OR :include_hidden)
"""

_READ = f"""
    SELECT record.id, record.name, record.version, record.body, {_PUBLISHED_AT}, {_CHANGED_AT},
        record.id = preferred_id, record.deleted, curated
    FROM record INNER JOIN entry ON entry.name = record.name WHERE record.id = ANY(:ids)
"""

# The expression is that of the index record_published. Without CASE, the planner of PostgreSQL takes the two equal
# columns for independent, expects a single row, and sorts all records.
_NEWEST = f"""
    SELECT record.id FROM record INNER JOIN entry ON entry.name = record.name
    WHERE CASE WHEN visible_id = record.id THEN true END AND {_IS_SERVER}
    ORDER BY least(coalesce(published_at, 0), created_at) DESC, record.written DESC LIMIT :limit
"""

_BODY = "SELECT body FROM record WHERE id = :id"


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
    every_kind: bool


def listing(rows: Rows, query: ListingQuery, most: int) -> Sequence[Version]:
    """Return the versions that match `query`, about `most` bytes, for Store.listing."""
    kind = query.versions if query.versions in _LISTS else "exact"
    values = asdict(query)
    names = _recent(rows, query, with_last=kind == "all")
    if names is None:
        sizes = rows.all((_CURATED_LISTS if query.curated else _LISTS)[kind], **values)
    else:
        sizes = []
        while names and len(sizes) < query.limit:
            sizes += rows.all(_LISTS_OF_NAMES[kind], names=names[:NAMES], **values)
            names = names[NAMES:]
    return _read(rows, sizes[: query.limit], most)


def _recent(rows: Rows, query: ListingQuery, *, with_last: bool) -> Sequence[str] | None:
    """Return the names after `query.name` that changed since `query.updated_since`; None if they may be many.

    `with_last` includes `query.name` itself, which may have further versions.
    """
    if not query.updated_since:
        return None
    names: set[str] = set()
    # The latest version changes with its entry.
    for table in ("entry",) if query.versions == "latest" else ("entry", "record"):
        changed = rows.all(_RECENT[table], since=query.updated_since)
        if len(changed) > MAX_RECENT:
            return None
        names.update(name for (name,) in changed)
    # Both databases compare bytes in UTF-8, whose order is that of the code points.
    return sorted(name for name in names if name > query.name or (with_last and name == query.name))


def all_versions(rows: Rows, name: str, after: str, limit: int, most: int) -> list[Version]:
    """Return versions of `name` after the version `after`, about `most` bytes, for Store.versions."""
    known = rows.all(_VERSIONS, name=name)
    begin = 0
    if after:
        begin = next((number for number, (_, _, version) in enumerate(known, 1) if version == after), len(known))
    return _read(rows, [(row, size) for row, size, _ in known[begin : begin + limit]], most)


def versions_of_ids(rows: Rows, mcp_ids: Sequence[str], wanted: VersionFilter, most: int) -> Sequence[Version]:
    """Return the versions of `mcp_ids`, in their order, about `most` bytes, for Store.latest."""
    statement = _OF_IDS if wanted.version == "latest" else _VERSION_OF_IDS
    sizes = {mcp_id: (row, size) for row, size, mcp_id in rows.all(statement, mcp_ids=mcp_ids, **asdict(wanted))}
    return _read(rows, [sizes[mcp_id] for mcp_id in mcp_ids if mcp_id in sizes][: wanted.limit], most)


def newest(rows: Rows, limit: int, of: Callable[[Entry], T]) -> list[T]:
    """Return `of` the entries that were published last, for Store.newest."""
    return [of(restore_entry(rows.one(_BODY, id=row)[0])) for (row,) in rows.all(_NEWEST, limit=limit)]


def one_version(rows: Rows, name: str, version: str, *, include_hidden: bool = False) -> Version | None:
    """Return one version of `name`, for Store.version."""
    statement = _THE_LATEST if version == "latest" else _THE_VERSION
    sizes = rows.all(statement, name=name, version=version, include_hidden=include_hidden)
    return next(iter(_read(rows, sizes, 1)), None)


def mark_updated(rows: Rows, mcp_id: str) -> None:
    """Let an entry be among what was updated last: mirrors that follow the registry API ask for this."""
    rows.execute("UPDATE entry SET updated_at = clock_seconds() WHERE mcp_id = :mcp_id", mcp_id=mcp_id)


def _read(rows: Rows, sizes: Iterable[tuple[int, int]], most: int) -> list[Version]:
    """Return the versions of rows with these ids and sizes, up to the one that brings the bytes to `most`."""
    wanted = []
    for row, size in sizes:
        wanted.append(row)
        most -= size
        if most <= 0:
            break
    if not wanted:
        return []
    versions = {row: _version(*fields) for row, *fields in rows.all(_READ, ids=wanted)}
    return [versions[row] for row in wanted]


def _version(name: str, version: str, body: bytes, published_at: float, updated_at: float, *flags: object) -> Version:
    return Version(name, version, body, published_at, updated_at, *map(bool, flags))

"""Queries for registry listings: versions of entries in the order of names."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice
from typing import cast

from ..domain.versions import Version

_Row = tuple[str, str, bytes, float, float, int, int, int]

_VERSION = """
    SELECT record.name, record.version, record.body, coalesce(record.published_at, record.created_at),
        CASE WHEN record.id = preferred_id THEN entry.updated_at ELSE record.updated_at END AS changed_at,
        record.id = preferred_id, record.deleted, curated
"""

_LATEST = "FROM entry JOIN record ON record.id = preferred_id"

# Only versions of the preferred source are listed.
_ALL = """
    FROM entry JOIN record AS first ON first.id = preferred_id
    JOIN record ON record.name = entry.name AND record.source = first.source
"""

_FILTER = """
    NOT hidden AND (curated OR NOT :curated) AND changed_at >= :since AND (:deleted OR NOT record.deleted)
"""

# The index record_version has the versions in the order of names.
_EXACT = """
    FROM record CROSS JOIN entry ON entry.name = record.name
    CROSS JOIN record AS first ON first.id = preferred_id AND first.source = record.source
"""

_LATEST_ROWS = f"{_VERSION} {_LATEST} WHERE entry.updated_at >= :since AND {_FILTER}"

_EXACT_ROWS = f"{_VERSION} {_EXACT} WHERE record.version = :versions AND {_FILTER}"

_ALL_ROWS = f"{_VERSION} {_ALL} WHERE {_FILTER}"

_LISTS = {
    "latest": f"{_LATEST_ROWS} AND entry.name > :name ORDER BY entry.name LIMIT :limit",
    "exact": f"{_EXACT_ROWS} AND record.name > :name ORDER BY record.name LIMIT :limit",
    "all": f"""
        {_ALL_ROWS} AND entry.name >= :name AND (entry.name > :name OR record.version > :version)
        ORDER BY entry.name, record.version LIMIT :limit
    """,
}

_LISTS_OF_NAME = {
    "latest": f"{_LATEST_ROWS} AND entry.name = :only AND :only > :name",
    "exact": f"{_EXACT_ROWS} AND record.name = :only AND :only > :name",
    "all": f"""
        {_ALL_ROWS} AND entry.name = :only AND (:only > :name OR record.version > :version) ORDER BY record.version
    """,
}

MAX_RECENT = 10_000
"""Names that changed since a time, up to which a list reads only these. Of a million names a client that follows the
registry asks for a few; more of them are soon found in the order of names."""

_RECENT = (
    "SELECT name FROM entry WHERE updated_at >= ? LIMIT ?",
    "SELECT name FROM record WHERE updated_at >= ? LIMIT ?",
)

# Without bodies, because sorting would load all of them.
_VERSIONS = f"""
    SELECT record.id, record.version {_ALL} WHERE entry.name = ? AND NOT hidden
    ORDER BY coalesce(record.published_at, record.created_at) DESC, record.id DESC
"""

_OF_RECORD = f"{_VERSION} {_ALL} WHERE entry.name = ? AND record.id = ?"

_THE_LATEST = f"{_VERSION} {_LATEST} WHERE entry.name = :name AND NOT hidden"

_REQUESTED = "JOIN json_each(:mcp_ids) AS requested ON requested.value = mcp_id WHERE visible_id = preferred_id"

_OF_IDS = f"{_VERSION} {_LATEST} {_REQUESTED} ORDER BY requested.key"

_VERSION_OF_IDS = f"{_VERSION} {_ALL} {_REQUESTED} AND record.version = :version ORDER BY requested.key"

_THE_VERSION = f"{_VERSION} {_ALL} WHERE entry.name = :name AND record.version = :version AND NOT hidden"


def listing(connection: sqlite3.Connection, versions: str, query: Mapping[str, object], most: int) -> Sequence[Version]:
    """Return the versions that match `query`, about `most` bytes, for Store.listing."""
    kind = versions if versions in _LISTS else "exact"
    arguments = {**query, "versions": versions}
    if (names := _recent(connection, query)) is not None:
        found = (row for name in names for row in connection.execute(_LISTS_OF_NAME[kind], {**arguments, "only": name}))
        return list(_first(islice(found, cast(int, query["limit"])), most))
    with closing(connection.execute(_LISTS[kind], arguments)) as rows:
        return list(_first(rows, most))


def _recent(connection: sqlite3.Connection, query: Mapping[str, object]) -> Sequence[str] | None:
    """Return the names from `query["name"]` on that changed since `query["since"]`; None if they may be many."""
    if not query["since"]:
        return None
    names: set[str] = set()
    for statement in _RECENT:
        rows = connection.execute(statement, (query["since"], MAX_RECENT + 1)).fetchall()
        if len(rows) > MAX_RECENT:
            return None
        names.update(name for (name,) in rows)
    # The order of SQLite is that of the bytes in UTF-8, which is that of the code points.
    return sorted(name for name in names if name >= cast(str, query["name"]))


def all_versions(connection: sqlite3.Connection, name: str, after: str, limit: int, most: int) -> list[Version]:
    """Return versions of `name` after the version `after`, about `most` bytes, for Store.versions."""
    known = connection.execute(_VERSIONS, (name,)).fetchall()
    begin = 0
    if after:
        begin = next((number for number, (_, version) in enumerate(known, 1) if version == after), len(known))
    rows = (connection.execute(_OF_RECORD, (name, record)).fetchone() for record, _ in known[begin : begin + limit])
    return list(_first(filter(None, rows), most))


def versions_of_ids(connection: sqlite3.Connection, mcp_ids: str, version: str, most: int) -> Sequence[Version]:
    """Return the latest or another version of `mcp_ids` (JSON), about `most` bytes, for Store.latest."""
    query = _OF_IDS if version == "latest" else _VERSION_OF_IDS
    with closing(connection.execute(query, {"mcp_ids": mcp_ids, "version": version})) as rows:
        return list(_first(rows, most))


def one_version(connection: sqlite3.Connection, name: str, version: str) -> Version | None:
    """Return one version of `name`, for Store.version."""
    query = _THE_LATEST if version == "latest" else _THE_VERSION
    return next(iter(_read(connection.execute(query, {"name": name, "version": version}))), None)


def _read(rows: Iterable[_Row]) -> Sequence[Version]:
    return list(map(_version, rows))


def _first(rows: Iterable[_Row], most: int) -> Iterator[Version]:
    """Yield versions up to the one that brings the bytes of their bodies to `most`."""
    for row in rows:
        version = _version(row)
        yield version
        most -= len(version.body)
        if most <= 0:
            return


def _version(row: _Row) -> Version:
    name, version, body, published_at, updated_at, latest, deleted, curated = row
    return Version(name, version, body, published_at, updated_at, bool(latest), bool(deleted), bool(curated))

"""Queries for registry listings: versions of entries in the order of names."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing

from ..domain.versions import Version

_Row = tuple[str, str, bytes, float, float, int, int, int]

_VERSION = """
    SELECT record.name, record.version, record.body, coalesce(record.published_at, record.created_at),
        CASE WHEN record.id = chosen THEN entry.updated_at ELSE record.updated_at END AS changed_at,
        record.id = chosen, record.deleted, curated
"""

_LATEST = "FROM entry JOIN record ON record.id = chosen"

# Only versions of the preferred source are listed.
_ALL = """
    FROM entry JOIN record AS first ON first.id = chosen
    JOIN record ON record.name = entry.name AND record.source = first.source
"""

_FILTER = """
    NOT hidden AND (curated OR NOT :curated) AND changed_at >= :since AND (:deleted OR NOT record.deleted)
"""

_LIST_LATEST = f"""
    {_VERSION} {_LATEST} WHERE entry.name > :name AND entry.updated_at >= :since AND {_FILTER}
    ORDER BY entry.name LIMIT :limit
"""

_LIST_EXACT = f"""
    {_VERSION} {_ALL} WHERE entry.name > :name AND record.version = :versions AND {_FILTER}
    ORDER BY entry.name LIMIT :limit
"""

_LIST_ALL = f"""
    {_VERSION} {_ALL}
    WHERE entry.name >= :name AND (entry.name > :name OR record.version > :version) AND {_FILTER}
    ORDER BY entry.name, record.version LIMIT :limit
"""

_LISTS = {"latest": _LIST_LATEST, "all": _LIST_ALL}

# Without bodies, because sorting would load all of them.
_VERSIONS = f"""
    SELECT record.id, record.version {_ALL} WHERE entry.name = ? AND NOT hidden
    ORDER BY record.id = chosen DESC, coalesce(record.published_at, record.created_at) DESC, record.id DESC
"""

_OF_RECORD = f"{_VERSION} {_ALL} WHERE entry.name = ? AND record.id = ?"

_THE_LATEST = f"{_VERSION} {_LATEST} WHERE entry.name = :name AND NOT hidden"

_OF_IDS = f"""
    {_VERSION} {_LATEST} JOIN json_each(?) AS requested ON requested.value = mcp_id WHERE shown = chosen
    ORDER BY requested.key
"""

_THE_VERSION = f"{_VERSION} {_ALL} WHERE entry.name = :name AND record.version = :version AND NOT hidden"


def listing(connection: sqlite3.Connection, versions: str, query: Mapping[str, object], most: int) -> Sequence[Version]:
    """Return the versions that match `query`, about `most` bytes, for Store.listing."""
    rows = connection.execute(_LISTS.get(versions, _LIST_EXACT), {**query, "versions": versions})
    with closing(rows):
        return list(_first(rows, most))


def all_versions(connection: sqlite3.Connection, name: str, after: str, limit: int, most: int) -> list[Version]:
    """Return versions of `name` after the version `after`, about `most` bytes, for Store.versions."""
    known = connection.execute(_VERSIONS, (name,)).fetchall()
    begin = 0
    if after:
        begin = next((number for number, (_, version) in enumerate(known, 1) if version == after), len(known))
    rows = (connection.execute(_OF_RECORD, (name, record)).fetchone() for record, _ in known[begin : begin + limit])
    return list(_first(filter(None, rows), most))


def latest_versions(connection: sqlite3.Connection, mcp_ids: str, most: int) -> Sequence[Version]:
    """Return the latest versions of `mcp_ids` (JSON), about `most` bytes, for Store.latest."""
    with closing(connection.execute(_OF_IDS, (mcp_ids,))) as rows:
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

"""Entries in the order of their names, version by version, as a registry lists them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from ..model import Version

_VERSION = """
    SELECT record.name, record.version, record.body, coalesce(record.published_at, record.created_at),
        CASE WHEN record.id = chosen THEN entry.updated_at ELSE record.updated_at END AS changed_at,
        record.id = chosen, record.deleted, curated
"""

_LATEST = "FROM entry JOIN record ON record.id = chosen"

# The versions of other sources say nothing about what is shown.
_ALL = """
    FROM entry JOIN record AS first ON first.id = chosen
    JOIN record ON record.name = entry.name AND record.source = first.source
"""

_ASKED_FOR = """
    NOT hidden AND (curated OR NOT :curated) AND changed_at >= :since AND (:deleted OR NOT record.deleted)
"""

_LIST_LATEST = f"""
    {_VERSION} {_LATEST} WHERE entry.name > :name AND entry.updated_at >= :since AND {_ASKED_FOR}
    ORDER BY entry.name LIMIT :limit
"""

_LIST_EXACT = f"""
    {_VERSION} {_ALL} WHERE entry.name > :name AND record.version = :versions AND {_ASKED_FOR}
    ORDER BY entry.name LIMIT :limit
"""

_LIST_ALL = f"""
    {_VERSION} {_ALL}
    WHERE entry.name >= :name AND (entry.name > :name OR record.version > :version) AND {_ASKED_FOR}
    ORDER BY entry.name, record.version LIMIT :limit
"""

_LISTS = {"latest": _LIST_LATEST, "all": _LIST_ALL}

_VERSIONS = f"""
    {_VERSION} {_ALL} WHERE entry.name = ? AND NOT hidden
    ORDER BY record.id = chosen DESC, coalesce(record.published_at, record.created_at) DESC, record.id DESC
"""

_THE_LATEST = f"{_VERSION} {_LATEST} WHERE entry.name = :name AND NOT hidden"

_THE_VERSION = f"{_VERSION} {_ALL} WHERE entry.name = :name AND record.version = :version AND NOT hidden"


def listing(connection: sqlite3.Connection, versions: str, asked: Mapping[str, object]) -> Sequence[Version]:
    """Return the versions that `asked` describes, for Store.listing."""
    return _read(connection.execute(_LISTS.get(versions, _LIST_EXACT), {**asked, "versions": versions}))


def all_versions(connection: sqlite3.Connection, name: str) -> Sequence[Version]:
    """Return all versions of `name`, for Store.versions."""
    return _read(connection.execute(_VERSIONS, (name,)))


def one_version(connection: sqlite3.Connection, name: str, version: str) -> Version | None:
    """Return one version of `name`, for Store.version."""
    query = _THE_LATEST if version == "latest" else _THE_VERSION
    return next(iter(_read(connection.execute(query, {"name": name, "version": version}))), None)


def _read(rows: Iterable[tuple[str, str, bytes, float, float, int, int, int]]) -> Sequence[Version]:
    return [
        Version(name, version, body, published_at, updated_at, bool(latest), bool(deleted), bool(curated))
        for name, version, body, published_at, updated_at, latest, deleted, curated in rows
    ]

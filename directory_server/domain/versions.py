"""Versions of an entry: values, order, dates, and the precedence of records of several sources."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cmp_to_key
from typing import Any

from attrs import frozen


@frozen
class Version:
    """One version of an entry in a registry listing; `body` is the encoded entry.

    Times are seconds since the epoch: `published_at` as its source states it, else when it was first stored;
    `updated_at` when it last changed in this directory. `latest` is set for the version that represents the name,
    `deleted` for a version that its source withdrew, and `curated` for names that are pinned, allowed or local.
    """

    name: str
    version: str
    body: bytes
    published_at: float
    updated_at: float
    latest: bool
    deleted: bool
    curated: bool


# At most 18 digits bound the cost of int(). The official registry accepts the "v" too.
_NUMBER = r"(?:0|[1-9][0-9]{0,17})"


_IDENTIFIER = rf"(?:{_NUMBER}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"


_SEMVER = re.compile(
    rf"v?(?P<core>{_NUMBER}\.{_NUMBER}\.{_NUMBER})"
    rf"(?:-(?P<prerelease>{_IDENTIFIER}(?:\.{_IDENTIFIER})*))?"
    r"(?:\+[0-9A-Za-z.-]+)?"
)


def semantic(version: str) -> tuple[Any, ...] | None:
    """Return the sort key of a semantic version (semver.org 2.0.0, item 11); None if `version` is not one."""
    match = _SEMVER.fullmatch(version)
    if match is None:
        return None
    core = tuple(int(number) for number in match["core"].split("."))
    if match["prerelease"] is None:
        return core, True
    # Numbers sort before words. A prerelease sorts before a longer one with the same prefix, as tuples do.
    identifiers = match["prerelease"].split(".")
    return (
        core,
        False,
        tuple(
            (False, int(identifier), "") if identifier.isdigit() else (True, 0, identifier)
            for identifier in identifiers
        ),
    )


def epoch(date: object) -> float | None:
    """Return an RFC 3339 date as seconds since the epoch, None if invalid. Without an offset it is UTC."""
    if not isinstance(date, str):
        return None
    try:
        moment = datetime.fromisoformat(date)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


LOCAL = "local"
"""The source of the operator's own entries. It takes precedence over all others."""


PUBLISHED = "published"
"""The source of what publisher tokens publish. Only local entries take precedence over it."""


OWN_SOURCES = (LOCAL, PUBLISHED)
"""The sources of this directory, in the order of precedence. No upstream has one of these names."""


REMOVED = "removed"
"""The source of what this directory shows in place of an entry with a malicious package. It precedes all others."""


IMPORTED = "imported"
"""The source of entries imported from files. Any upstream takes precedence over it. No upstream has this name."""


SAMPLE = "sample"
"""The source of the sample catalogue. All other sources take precedence over it."""


_LAST_SOURCES = (IMPORTED, SAMPLE)


@frozen
class Record:
    """The fields of a stored record that decide precedence.

    `id` increases with each write; `published_at` is in seconds since the epoch.
    """

    id: int
    source: str
    version: str
    latest: bool
    deleted: bool
    published_at: float | None
    fingerprint: bytes


def preferred(records: Sequence[Record], sources: Sequence[str]) -> Record | None:
    """Return the record of `records`, all of one name, that represents the name; None if there is none.

    The record may be a deleted one: what an upstream deletes is not shown from an imported file. The criteria, in
    order: the source (removed, local, published, `sources` in their order, others by name, imported, sample); for
    published records, whether it is deleted; whether its registry marks it as the latest; the later version.
    """
    if not records:
        return None
    ranks = {
        record.id: (
            _precedence(record.source, sources),
            # Upstreams mark another version as the latest themselves when they delete one.
            record.source == PUBLISHED and record.deleted,
            not record.latest,
        )
        for record in records
    }
    best = min(ranks.values())
    return max((record for record in records if ranks[record.id] == best), key=cmp_to_key(later))


def _precedence(source: str, sources: Sequence[str]) -> tuple[int, str]:
    if source == REMOVED:
        return -len(OWN_SOURCES) - 1, ""
    if source in OWN_SOURCES:
        return OWN_SOURCES.index(source) - len(OWN_SOURCES), ""
    if source in sources:
        return sources.index(source), ""
    # Commands may run without the configuration that names the upstreams.
    return len(sources) + (1 + _LAST_SOURCES.index(source) if source in _LAST_SOURCES else 0), source


def later(one: Record, other: Record) -> int:
    """Compare two records: 1 if `one` is later, -1 if earlier; by version, else by date, else by order of writing."""
    for ours, theirs in (
        (semantic(one.version), semantic(other.version)),
        (one.published_at, other.published_at),
        (one.id, other.id),
    ):
        if ours is not None and theirs is not None and ours != theirs:
            return 1 if ours > theirs else -1  # type: ignore[operator]
    return 0

"""Versions of an entry: values, order, dates, and the precedence of records of several sources."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
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


@frozen
class VersionFilter:
    """Selects versions of entries, as the arguments of `Store.listing` do."""

    version: str = "latest"
    limit: int | None = None
    updated_since: float = 0.0
    include_deleted: bool = True
    curated: bool = False


LATEST = VersionFilter()


# As the official registry: leading zeros are allowed, as in 2026.05.24. The "v" is allowed too.
_SEMVER = re.compile(
    r"v?(?P<core>[0-9]+\.[0-9]+\.[0-9]+)(?:-(?P<prerelease>[0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?",
)

_DIGITS = re.compile(r"([0-9]+)")


def semantic(version: str) -> tuple[Any, ...] | None:
    """Return the sort key of a semantic version (semver.org 2.0.0, item 11); None if `version` is not one."""
    match = _SEMVER.fullmatch(version)
    if match is None:
        return None
    core = tuple(map(_number, match["core"].split(".")))
    if match["prerelease"] is None:
        return core, True
    # Numbers sort before words. A prerelease sorts before a longer one with the same prefix, as tuples do.
    identifiers = match["prerelease"].split(".")
    return (
        core,
        False,
        tuple((False, _number(word), "") if word.isdigit() else (True, (0, ""), word) for word in identifiers),
    )


def _number(digits: str) -> tuple[int, str]:
    """Return the sort key of a number of any length, in linear time."""
    stripped = digits.lstrip("0")
    return len(stripped), stripped


_LEAP_SECOND = re.compile(r"([T ][0-9]{2}:[0-9]{2}):60")


def epoch(date: object) -> float | None:
    """Return an RFC 3339 date as seconds since the epoch, None if invalid. Without an offset it is UTC."""
    if not isinstance(date, str):
        return None
    # Python reads neither small letters nor a leap second: the first second of the next day (POSIX).
    ordinary, leap = _LEAP_SECOND.subn(r"\1:59", date.upper())
    try:
        moment = datetime.fromisoformat(ordinary)
    except ValueError:
        return None
    seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() + leap
    return None if leap and seconds % 86_400 >= 1 else seconds


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

    `id` increases with each write; `published_at` is in seconds since the epoch. `deprecated` is None if that is not
    known.
    """

    id: int
    source: str
    version: str
    latest: bool
    deleted: bool
    published_at: float | None
    fingerprint: bytes
    deprecated: bool | None = None


def preferred(records: Sequence[Record], sources: Sequence[str]) -> Record | None:
    """Return the record of `records`, all of one name, that represents the name; None if there is none.

    The record may be a deleted one: what an upstream deletes is not shown from an imported file. The criteria, in
    order: the source (removed, local, published, `sources` in their order, others by name, imported, sample); for
    published records, whether it is deleted; whether its registry marks it as the latest; the later version (`age`).
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
    return max((record for record in records if ranks[record.id] == best), key=age)


def _precedence(source: str, sources: Sequence[str]) -> tuple[int, str]:
    if source == REMOVED:
        return -len(OWN_SOURCES) - 1, ""
    if source in OWN_SOURCES:
        return OWN_SOURCES.index(source) - len(OWN_SOURCES), ""
    if source in sources:
        return sources.index(source), ""
    # Commands may run without the configuration that names the upstreams.
    return len(sources) + (1 + _LAST_SOURCES.index(source) if source in _LAST_SOURCES else 0), source


def age(record: Record) -> tuple[Any, ...]:
    """Return the sort key of records of one name and source, the latest version last. No two versions have the same.

    Semantic versions follow all others, as in the official registry. Then the version decides, then the date, then the
    text of the version with its numbers as numbers. When a record was written does not count: a change of its status
    writes it too.
    """
    key, date = semantic(record.version), record.published_at
    return (
        key is not None,
        key or (),
        float("-inf") if date is None else date,
        # Texts and numbers alternate.
        [_number(part) if index % 2 else (0, part) for index, part in enumerate(_DIGITS.split(record.version))],
        record.version,
    )

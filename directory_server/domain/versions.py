"""Versions of an entry: values, ordering, dates."""

from __future__ import annotations

import re
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
    return core, False, tuple((False, int(each), "") if each.isdigit() else (True, 0, each) for each in identifiers)


def epoch(date: object) -> float | None:
    """Return an RFC 3339 date as seconds since the epoch, None if invalid. Without an offset it is UTC."""
    if not isinstance(date, str):
        return None
    try:
        moment = datetime.fromisoformat(date)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()

"""Versions of an entry: values, order, dates."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from attrs import frozen


@frozen
class Version:
    """One version of an entry as a registry lists it; `body` is the entry, encoded.

    Times are seconds since the epoch: `published_at` as its source says, else when it came here; `updated_at` when it
    last changed here. `latest` is of the one version that stands for the name, `deleted` of one that its source took
    back, and `curated` of names that the operator stands by: pinned, allowed, or an entry of his own.
    """

    name: str
    version: str
    body: bytes
    published_at: float
    updated_at: float
    latest: bool
    deleted: bool
    curated: bool


# A number of 18 digits is no version but an attack on int(). The official registry takes the "v" too.
_NUMBER = r"(?:0|[1-9][0-9]{0,17})"


_IDENTIFIER = rf"(?:{_NUMBER}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"


_SEMVER = re.compile(
    rf"v?(?P<core>{_NUMBER}\.{_NUMBER}\.{_NUMBER})"
    rf"(?:-(?P<prerelease>{_IDENTIFIER}(?:\.{_IDENTIFIER})*))?"
    r"(?:\+[0-9A-Za-z.-]+)?"
)


def semantic(version: str) -> tuple[Any, ...] | None:
    """Return what orders `version` among semantic ones, None if it is not one (semver.org 2.0.0, item 11)."""
    match = _SEMVER.fullmatch(version)
    if match is None:
        return None
    core = tuple(int(number) for number in match["core"].split("."))
    if match["prerelease"] is None:
        return core, True
    # Numbers go before words, and a prerelease before the same with more identifiers, as tuples are ordered anyway.
    identifiers = match["prerelease"].split(".")
    return core, False, tuple((False, int(each), "") if each.isdigit() else (True, 0, each) for each in identifiers)


def epoch(date: object) -> float | None:
    """Return an RFC 3339 date as seconds since the epoch, None if it is not one; without an offset it is UTC."""
    if not isinstance(date, str):
        return None
    try:
        moment = datetime.fromisoformat(date)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()

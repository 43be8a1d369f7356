"""Which of the records of one name is shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cmp_to_key
from typing import Any

from attrs import frozen

from ..model import LOCAL

# A number of 18 digits is no version but an attack on int(). The official registry takes the "v" too.
_NUMBER = r"(?:0|[1-9][0-9]{0,17})"
_IDENTIFIER = rf"(?:{_NUMBER}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_SEMVER = re.compile(
    rf"v?(?P<core>{_NUMBER}\.{_NUMBER}\.{_NUMBER})"
    rf"(?:-(?P<prerelease>{_IDENTIFIER}(?:\.{_IDENTIFIER})*))?"
    r"(?:\+[0-9A-Za-z.-]+)?"
)


@frozen
class Record:
    """What the choice needs to know of a record. `id` grows with each writing; `published_at` is epoch seconds."""

    id: int
    source: str
    version: str
    latest: bool
    deleted: bool
    published_at: float | None
    fingerprint: bytes


def foremost(records: Sequence[Record], sources: Sequence[str]) -> Record | None:
    """Return which of `records`, all of one name, stands for it, shown or deleted; None if there is none.

    First counts the source: local, then `sources` in their order, then others by name; then what its registry calls
    the latest; then the later version.
    """
    if not records:
        return None
    ranks = {record.id: (_precedence(record.source, sources), not record.latest) for record in records}
    best = min(ranks.values())
    return max((record for record in records if ranks[record.id] == best), key=cmp_to_key(later))


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


def _precedence(source: str, sources: Sequence[str]) -> tuple[int, str]:
    if source == LOCAL:
        return -1, ""
    return (sources.index(source), "") if source in sources else (len(sources), source)


def later(one: Record, other: Record) -> int:
    """Return whether `one` is the later (1) or the earlier (-1), by version, else by date, else by writing."""
    for mine, its in (
        (semantic(one.version), semantic(other.version)),
        (one.published_at, other.published_at),
        (one.id, other.id),
    ):
        if mine is not None and its is not None and mine != its:
            return 1 if mine > its else -1  # type: ignore[operator]
    return 0

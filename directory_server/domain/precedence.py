"""Precedence: the choice of one record among all records of a name."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cmp_to_key

from attrs import frozen

from .curation import LOCAL
from .versions import semantic


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

    The record may be a deleted one. The criteria, in order: the source (local, then `sources` in their order, then
    others by name); whether its registry marks it as the latest; the later version.
    """
    if not records:
        return None
    ranks = {record.id: (_precedence(record.source, sources), not record.latest) for record in records}
    best = min(ranks.values())
    return max((record for record in records if ranks[record.id] == best), key=cmp_to_key(later))


def _precedence(source: str, sources: Sequence[str]) -> tuple[int, str]:
    if source == LOCAL:
        return -1, ""
    return (sources.index(source), "") if source in sources else (len(sources), source)


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

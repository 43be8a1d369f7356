"""Precedence: which record of a name is shown."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cmp_to_key

from attrs import frozen

from .curation import LOCAL
from .versions import semantic


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


def preferred(records: Sequence[Record], sources: Sequence[str]) -> Record | None:
    """Return which of `records`, all of one name, stands for it, shown or deleted; None if there is none.

    First counts the source: local, then `sources` in their order, then others by name; then what its registry calls
    the latest; then the later version.
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
    """Return whether `one` is the later (1) or the earlier (-1), by version, else by date, else by writing."""
    for mine, its in (
        (semantic(one.version), semantic(other.version)),
        (one.published_at, other.published_at),
        (one.id, other.id),
    ):
        if mine is not None and its is not None and mine != its:
            return 1 if mine > its else -1  # type: ignore[operator]
    return 0

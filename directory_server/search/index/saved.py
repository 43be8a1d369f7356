"""Snapshots as columns of a file, and back. All numbers of a file are checked before they are used as positions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from ...domain.limits import MAX_STARS
from ..tables.files import NOTHING, HashedTexts
from ..tables.word_vectors import DIMENSIONS
from .columns import ColumnFile, Unusable
from .facets import MAX_HOURS, UNKNOWN_STARS
from .packed import Packed
from .segment import WIDTH, Segment
from .snapshot import LiveSegment, Snapshot

MAX_SEGMENTS = 100
"""Segments of a snapshot. The tiers keep about five."""


def to_columns(snapshot: Snapshot) -> tuple[Mapping[str, int], dict[str, NDArray[Any]]]:
    columns = {"pinned": np.frombuffer(orjson.dumps(sorted(snapshot.pinned)), np.uint8)}
    for number, part in enumerate(snapshot.parts):
        columns[f"{number}.live"] = part.live.view(np.uint8)
        columns |= {f"{number}.{name}": column for name, column in part.segment.columns().items()}
    return {"segments": len(snapshot.parts)}, columns


def from_columns(file: ColumnFile) -> Snapshot:
    """Return the snapshot in `file`. Raise Unusable if a number in it is out of range."""
    count = file.facts.get("segments")
    if not isinstance(count, int) or not 0 <= count <= MAX_SEGMENTS:
        raise Unusable("its number of segments is invalid")
    try:
        pinned = frozenset(orjson.loads(bytes(file.column("pinned", np.uint8))))
    except (ValueError, TypeError):
        raise Unusable("a text in it is invalid") from None
    return Snapshot([_segment(file, f"{number}.").with_pins(pinned) for number in range(count)], pinned=pinned)


def _segment(file: ColumnFile, prefix: str) -> LiveSegment:
    live = file.column(f"{prefix}live", np.uint8)
    size = len(live)
    _check_range(live, 0, 2)
    strings = file.column(f"{prefix}strings", np.uint8)
    docs = file.column(f"{prefix}docs", np.int32)
    _check_range(docs, 0, size)
    slots = file.column(f"{prefix}slots", np.int32)
    _check_range(slots, NOTHING, len(strings) // WIDTH)
    if not len(slots) or len(slots) & (len(slots) - 1) or slots.min() != NOTHING:
        raise Unusable("its table of strings is invalid")
    starts = file.column(f"{prefix}starts", np.int64, len(strings) // WIDTH + 2)
    _check_offsets(starts, len(docs))
    stars = file.column(f"{prefix}stars", np.int32, size)
    updated = file.column(f"{prefix}updated", np.int32, size)
    _check_range(stars, UNKNOWN_STARS, MAX_STARS + 1)
    _check_range(updated, 0, MAX_HOURS)
    priors = file.column(f"{prefix}priors", np.float32, size)
    if len(strings) % WIDTH or not np.isfinite(priors).all():
        raise Unusable("a number in it is out of range")
    segment = Segment(
        HashedTexts(strings.view(f"S{WIDTH}"), slots),
        starts,
        docs,
        file.column(f"{prefix}values", np.uint16, len(docs)),
        file.column(f"{prefix}keys", np.uint64, size),
        priors,
        file.column(f"{prefix}facts", np.uint64, size),
        stars,
        updated,
        file.column(f"{prefix}described", np.uint16, size),
        file.column(f"{prefix}vectors", np.int8, size * DIMENSIONS).reshape(-1, DIMENSIONS),
        *(_packed(file, f"{prefix}{name}", size) for name in ("hits", "phrases", "tools")),
    )
    return LiveSegment(segment, live.view(np.bool_), int(np.count_nonzero(live)))


def _packed(file: ColumnFile, name: str, count: int) -> Packed:
    data = file.column(f"{name}.data", np.uint8)
    offsets = file.column(f"{name}.offsets", np.int64, count + 1)
    _check_offsets(offsets, len(data))
    return Packed(data, offsets)


def _check_range(numbers: NDArray[Any], least: int, below: int) -> None:
    if len(numbers) and not (int(numbers.min()) >= least and int(numbers.max()) < below):
        raise Unusable("a number in it is out of range")


def _check_offsets(offsets: NDArray[np.int64], end: int) -> None:
    """Raise Unusable unless `offsets` ascend from 0 to `end`."""
    if not len(offsets) or offsets[0] != 0 or offsets[-1] != end or np.any(offsets[1:] < offsets[:-1]):
        raise Unusable("its offsets are not in order")

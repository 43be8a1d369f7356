"""Rules of publishing: the limits of a source."""

from __future__ import annotations

import pytest

from directory_server.domain.publishing import SourceLimits, Usage, has_room
from directory_server.domain.versions import Record


@pytest.mark.parametrize(
    ("size", "replaced", "deleted", "has_name", "fits"),
    [
        (10, None, False, True, True),
        (11, None, False, True, False),
        (10, None, False, False, False),
        (15, 5, False, True, True),
        (16, 5, False, True, False),
        (99, 100, False, True, True),
        (99, 5, True, True, True),
        (99, None, True, True, False),
    ],
)
def test_a_source_stores_within_its_limits(
    size: int, replaced: int | None, deleted: bool, has_name: bool, fits: bool
) -> None:
    limits, usage = SourceLimits(3, 100), Usage(3, 90)
    written = Record(1, "a", "1.0.0", False, deleted, None, b"fingerprint")
    assert has_room(limits, usage, written, size, replaced=replaced, has_name=lambda: has_name) is fits
    assert has_room(None, usage, written, size, replaced=replaced, has_name=lambda: has_name)

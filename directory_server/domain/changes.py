"""Change-log records and outcomes of publishing."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

ChangeKind = Literal["added", "changed", "removed"]


Outcome = Literal["added", "changed", "unchanged", "too_old", "over_limit"]
"""Outcome of publishing an entry.

An entry that is `too_old` (older than the stored versions of its name) or `over_limit` (beyond the limits of its
source) is not stored.
"""


@frozen
class Change:
    """A record of the change log: one visible entry was added, changed or removed. `seq` orders all records.

    `body` is the encoded entry and `analysed` the result of an Analysis; both are None for a removed entry.
    A `pinned` entry ranks first among the hits of a search.
    """

    seq: int
    kind: ChangeKind
    mcp_id: str
    body: bytes | None
    analysed: bytes | None
    pinned: bool = False

"""Changes of the directory, and outcomes of publishing."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

ChangeKind = Literal["added", "changed", "removed"]


Outcome = Literal["added", "changed", "unchanged", "too_old", "over_limit"]
"""What became of a published entry. The last two are not kept: older than the versions of its name that are, or beyond
what its source may store."""


@frozen
class Change:
    """One change of what the directory shows; `seq` orders them all.

    `body` is the entry, encoded, and `analysed` what an Analysis made of it; both are None for one that was removed.
    `pinned` is whether it comes first among the hits of the searches that find it.
    """

    seq: int
    kind: ChangeKind
    mcp_id: str
    body: bytes | None
    analysed: bytes | None
    pinned: bool = False

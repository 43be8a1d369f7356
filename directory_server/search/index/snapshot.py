"""Snapshots: one immutable state of the index."""

from __future__ import annotations

from collections.abc import Sequence, Set

from attrs import field, frozen

from .lexicon import Lexicon
from .tiers import LiveSegment
from .vocabulary import Vocabulary


@frozen(eq=False)
class Snapshot:
    """One immutable state of the index. A search uses one snapshot from start to end."""

    vocabulary: Vocabulary = field(factory=Vocabulary)
    parts: Sequence[LiveSegment] = ()
    lexicon: Lexicon = field(factory=Lexicon)
    generation: int = 0
    pinned: Set[str] = frozenset()

    def __len__(self) -> int:
        return sum(part.count for part in self.parts)

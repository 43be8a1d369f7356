"""Snapshots: one immutable state of the index."""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import cached_property

from attrs import field, frozen

from ..text.thesaurus import thesaurus
from .collection import Collection
from .lexicon import Lexicon
from .tiers import LiveSegment
from .vocabulary import Vocabulary


@frozen(eq=False, slots=False)
class Snapshot:
    """One immutable state of the index. A search uses one snapshot from start to end."""

    vocabulary: Vocabulary = field(factory=Vocabulary)
    parts: Sequence[LiveSegment] = ()
    lexicon: Lexicon = field(factory=Lexicon)
    generation: int = 0
    pinned: Set[str] = frozenset()

    @cached_property
    def collection(self) -> Collection:
        """The segments, as they are searched."""
        return Collection(self.vocabulary, [part.segment for part in self.parts], self.lexicon, thesaurus())

    def __len__(self) -> int:
        return sum(part.count for part in self.parts)

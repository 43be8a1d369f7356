"""Snapshots: one immutable state of the index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cached_property

import numpy as np
from attrs import field, frozen

from ...domain.scopes import Scope
from ...domain.views import Hit
from ..text.thesaurus import thesaurus
from .arrays import Bools
from .collection import Collection
from .facets import list_terms
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

    def live(self, scope: Scope) -> Sequence[Bools]:
        """Return for each segment which documents are live and within `scope`. Operators define few scopes."""
        if scope is None:
            return [part.live for part in self.parts]
        return self.collection.once(("live", scope), lambda: self._live_within(scope))

    def _live_within(self, scope: frozenset[str]) -> Sequence[Bools]:
        terms = [term for each in list_terms(scope) if (term := self.collection.find(each)) is not None]
        masks = []
        for part in self.parts:
            mask = np.zeros(len(part.segment), bool)
            for term in terms:
                mask[part.segment.lists.documents_with(term)] = True
            masks.append(mask & part.live)
        return masks

    def hits(self, mcp_ids: Iterable[str]) -> Mapping[str, Hit]:
        """Return the hits of those of the entries `mcp_ids` that are live, by their ids."""
        wanted = list(mcp_ids)
        return {mcp_id: hit for part in self.parts for mcp_id in wanted if (hit := part.hit(mcp_id)) is not None}

    def __len__(self) -> int:
        return sum(part.count for part in self.parts)

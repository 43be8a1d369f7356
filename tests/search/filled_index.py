"""An index of several segments for tests of its file."""

from __future__ import annotations

from functools import cache
from random import Random

from directory_server.runtime.run_sync import inline, run_sync
from directory_server.search import ImpactIndex
from tests.contract.index import additions, make_entry

from .random_changes import changes_of

LOG = "0123456789ab"


def filled(seed: int = 5, batches: int = 6) -> ImpactIndex:
    """Return an index of several segments, with deleted and pinned entries and new words."""
    index, random = ImpactIndex(inline, sizes=(2, 6)), Random(seed)
    for seq in range(batches):
        run_sync(index.apply(changes_of(random, seq)))
    later = make_entry("org.example/later", "words that no other entry has")
    run_sync(index.apply(additions(later)))
    return index


shared = cache(filled)
"""Returns an index that is not changed."""

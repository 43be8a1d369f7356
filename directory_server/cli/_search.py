"""One search of a command, in an index that it loads for itself."""

from __future__ import annotations

import time
from collections.abc import Callable

from ..domain.search import Page, Query
from ..run_sync import inline
from ..search import ImpactIndex
from ..services.feed import Feed
from .context import CommandContext


class _NoBus:
    """A Bus without listeners: a command ends before a change matters."""

    def announce(self) -> None:
        """Wake nobody."""

    def subscribe(self, wake: Callable[[], None]) -> None:
        """Forget `wake`."""


async def search_once(context: CommandContext, query: Query) -> Page:
    """Return the hits for `query` in all entries. It reads the file of the index, if there is one, and writes none."""
    # It imports the server, which other commands do not need.
    from twisted.internet.task import Clock

    from ..composition import index_keeper

    index, store = ImpactIndex(inline), context.storage.store
    keeper = index_keeper(context.config, index, store, inline, time.monotonic)
    await Feed(store, _NoBus(), [index], [], Clock(), keeper).load()
    return await index.search(query)

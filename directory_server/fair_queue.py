"""A bounded queue for expensive work, fair to all clients."""

from __future__ import annotations

from collections import OrderedDict, deque

from twisted.internet.defer import Deferred

from .domain.errors import Unavailable


class FairQueue:
    """Grants `at_once` slots at a time; waiting clients get theirs round robin.

    At most `total` calls wait, and at most `each` of one client. If `total` calls wait, a new call replaces the last
    call of the client that has the most, if that client has at least two more than the new call's client.
    """

    def __init__(self, at_once: int, *, total: int, each: int) -> None:
        self._free = at_once
        self._total = total
        self._each = each
        self._waiting: OrderedDict[str, deque[Deferred[None]]] = OrderedDict()

    async def acquire(self, client: str) -> None:
        """Wait for a slot, which `release` frees. Raises Unavailable if too many calls wait."""
        if self._free:
            self._free -= 1
            return
        self._reserve(client)
        slot: Deferred[None] = Deferred(lambda slot: self._leave(client, slot))
        self._waiting.setdefault(client, deque()).append(slot)
        await slot

    def release(self) -> None:
        """Free a slot; the first call of the next client gets it."""
        if not self._waiting:
            self._free += 1
            return
        client, queue = next(iter(self._waiting.items()))
        slot = queue.popleft()
        self._waiting.move_to_end(client)
        if not queue:
            del self._waiting[client]
        slot.callback(None)

    def _reserve(self, client: str) -> None:
        """Ensure that `client` may enter the queue, or raise Unavailable."""
        own = len(self._waiting.get(client, ()))
        if own >= self._each:
            raise _too_many()
        if sum(map(len, self._waiting.values())) < self._total:
            return
        longest = max(self._waiting, key=lambda each: len(self._waiting[each]))
        if len(self._waiting[longest]) < own + 2:
            raise _too_many()
        self._waiting[longest].pop().errback(_too_many())

    def _leave(self, client: str, slot: Deferred[None]) -> None:
        queue = self._waiting[client]
        queue.remove(slot)
        if not queue:
            del self._waiting[client]


def _too_many() -> Unavailable:
    return Unavailable("Too many people are signing in at the moment. Try again in a few seconds.")

"""A bounded queue for expensive work, shared fairly by those who ask for it."""

from __future__ import annotations

from collections import OrderedDict, deque

from twisted.internet.defer import Deferred

from .domain.errors import Unavailable


class Turns:
    """Gives out `at_once` turns at a time; the clients that wait get theirs round robin.

    At most `total` wait, and at most `each` of one client. Where `total` wait, a newcomer takes the place of the last
    of the client that has the most, if that has at least two more than the newcomer's client.
    """

    def __init__(self, at_once: int, *, total: int, each: int) -> None:
        self._free = at_once
        self._total = total
        self._each = each
        self._waiting: OrderedDict[str, deque[Deferred[None]]] = OrderedDict()

    async def acquire(self, client: str) -> None:
        """Wait for a turn, which `release` ends. Raises Unavailable where too many wait."""
        if self._free:
            self._free -= 1
            return
        self._make_place(client)
        turn: Deferred[None] = Deferred(lambda turn: self._leave(client, turn))
        self._waiting.setdefault(client, deque()).append(turn)
        await turn

    def release(self) -> None:
        """End a turn; the first of the next client gets it."""
        if not self._waiting:
            self._free += 1
            return
        client, queue = next(iter(self._waiting.items()))
        turn = queue.popleft()
        self._waiting.move_to_end(client)
        if not queue:
            del self._waiting[client]
        turn.callback(None)

    def _make_place(self, client: str) -> None:
        """Have a place in the queue for `client`, or raise Unavailable."""
        own = len(self._waiting.get(client, ()))
        if own >= self._each:
            raise _too_many()
        if sum(map(len, self._waiting.values())) < self._total:
            return
        longest = max(self._waiting, key=lambda each: len(self._waiting[each]))
        if len(self._waiting[longest]) < own + 2:
            raise _too_many()
        self._waiting[longest].pop().errback(_too_many())

    def _leave(self, client: str, turn: Deferred[None]) -> None:
        queue = self._waiting[client]
        queue.remove(turn)
        if not queue:
            del self._waiting[client]


def _too_many() -> Unavailable:
    return Unavailable("Too many people are signing in at the moment. Try again in a few seconds.")

"""A queue in which groups of clients take turns, and the clients of each group."""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from typing import NoReturn

from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.python.failure import Failure

from ..domain.errors import Unavailable

NO_LIMIT = 1_000_000


@define(eq=False, repr=False)
class FairQueue:
    """Grants slots: `at_once` at a time, of these `each_at_once` to one client.

    Groups get theirs round robin, and so do the clients of a group. At most `total` calls wait, at most `group` of one
    group and `each` of one client, for at most `seconds`; `rejected` returns the error of others. If the queue or the
    group is full, a new call replaces the last call of the group or client that has the most, if that has at least two
    more than those of the new call.
    """

    _clock: IReactorTime
    _rejected: Callable[[], Unavailable]
    _free: int
    _seconds: float = field(kw_only=True)
    _each_at_once: int = field(kw_only=True, default=NO_LIMIT)
    _total: int = field(kw_only=True, default=NO_LIMIT)
    _group: int = field(kw_only=True, default=NO_LIMIT)
    _each: int = field(kw_only=True, default=NO_LIMIT)
    _waiting: OrderedDict[str, _Clients] = field(factory=OrderedDict, init=False)
    # The slots of each client.
    _held: Counter[str] = field(factory=Counter, init=False)
    # The calls that go on in the next turn of the reactor.
    _granted: dict[Deferred[None], IDelayedCall] = field(factory=dict, init=False)

    async def acquire(self, client: str, group: str) -> None:
        """Wait for a slot, which `release` frees. Raises Unavailable if too many calls wait, or for too long."""
        if self._free and self._held[client] < self._each_at_once:
            self._hold(client, 1)
            return
        self._reserve(group, client)
        slot: Deferred[None] = Deferred(lambda slot: self._cancel(client, group, slot))
        self._waiting.setdefault(group, OrderedDict()).setdefault(client, deque()).append(slot)
        slot.addTimeout(self._seconds, self._clock, self._time_out)
        await slot

    def release(self, client: str) -> None:
        """Free a slot; the first call of the next client of the next group gets it, and goes on in the next turn."""
        self._hold(client, -1)
        while self._waiting and self._free and (following := self._next()) is not None:
            group, client = following
            slot = self._waiting[group][client][0]
            self._waiting.move_to_end(group)
            self._waiting[group].move_to_end(client)
            self._leave(group, client, slot)
            self._hold(client, 1)
            # Not at once: its caller may release the slot before it returns.
            self._granted[slot] = self._clock.callLater(0, self._go_on, slot)

    def _go_on(self, slot: Deferred[None]) -> None:
        del self._granted[slot]
        slot.callback(None)

    def _next(self) -> tuple[str, str] | None:
        """Return the group and the client that get the next slot, None if all that wait have their slots."""
        waiting = ((group, client) for group, clients in self._waiting.items() for client in clients)
        return next((each for each in waiting if self._held[each[1]] < self._each_at_once), None)

    def _hold(self, client: str, slots: int) -> None:
        self._free -= slots
        self._held[client] += slots
        if not self._held[client]:
            del self._held[client]

    def _reserve(self, group: str, client: str) -> None:
        """Ensure that `client` may enter the queue, or raise Unavailable."""
        clients = self._waiting.get(group, _Clients())
        own = len(clients.get(client, ()))
        if own >= self._each:
            raise self._rejected()
        if self._group < NO_LIMIT and _size(clients) >= self._group:
            self._replace(group, own + 2)
        elif self._total < NO_LIMIT and sum(map(_size, self._waiting.values())) >= self._total:
            largest = max(self._waiting, key=lambda name: _size(self._waiting[name]))
            same = largest == group
            if not same and _size(self._waiting[largest]) < _size(clients) + 2:
                raise self._rejected()
            self._replace(largest, own + 2 if same else 1)

    def _replace(self, group: str, least: int) -> None:
        """End the last call of the client of `group` that has the most; raise Unavailable if it has below `least`."""
        clients = self._waiting[group]
        longest = max(clients, key=lambda name: len(clients[name]))
        if len(clients[longest]) < least:
            raise self._rejected()
        slot = clients[longest][-1]
        self._leave(group, longest, slot)
        slot.errback(self._rejected())

    def _leave(self, group: str, client: str, slot: Deferred[None]) -> None:
        clients = self._waiting[group]
        clients[client].remove(slot)
        if not clients[client]:
            del clients[client]
        if not clients:
            del self._waiting[group]

    def _cancel(self, client: str, group: str, slot: Deferred[None]) -> None:
        call = self._granted.pop(slot, None)
        if call is None:
            self._leave(group, client, slot)
        else:
            call.cancel()
            self.release(client)

    def _time_out(self, failure: Failure | None, seconds: float) -> NoReturn:
        raise self._rejected()


_Clients = OrderedDict[str, deque[Deferred[None]]]


def _size(clients: _Clients) -> int:
    return sum(map(len, clients.values()))

"""Admission of charged requests: fair shares under load, and a bound on the waiting before the charge."""

from __future__ import annotations

from collections import Counter, deque

from twisted.internet.defer import Deferred, TimeoutError
from twisted.internet.interfaces import IReactorTime

from ..domain.errors import Unavailable

PER_CLIENT, PER_NETWORK, TOTAL = 2, 32, 64
"""Admitted requests of one client (an account or a key), of one network, and in total. Those of a client are few: a
request of another client waits for all that are admitted, because searches run one after the other."""

WAIT = 2.0
"""Seconds after which a request that waits is rejected."""

RETRY_AFTER = 2
"""Seconds after which a rejected client may try again."""


class Admission:
    """Admits requests before they are charged. Networks take turns, and the clients of each.

    What an admitted request does needs no turn: the rest of the server does not wait behind requests that wait here.
    """

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self._total = 0
        self._clients: Counter[str] = Counter()
        self._networks: Counter[str] = Counter()
        self._waiting: dict[str, dict[str, deque[Deferred[None]]]] = {}
        """The requests that wait, by network and client. Who was served last is last."""
        self._admitted: list[Deferred[None]] = []

    async def enter(self, network: str, client: str) -> None:
        """Wait until a request of `client` is admitted. Raises Unavailable after WAIT seconds.

        When the request has ended, call `leave`.
        """
        if self._has_place(network, client):
            self._add(network, client, 1)
            return
        turn: Deferred[None] = Deferred()
        self._waiting.setdefault(network, {}).setdefault(client, deque()).append(turn)
        turn.addTimeout(WAIT, self._clock)
        try:
            await turn
        except BaseException as error:
            if not self._remove(network, client, turn):
                self.leave(network, client)
            if isinstance(error, TimeoutError):
                raise Unavailable(
                    "The server is overloaded. Try again in a few seconds, with fewer requests at a time.",
                    retry_after=RETRY_AFTER,
                ) from None
            raise

    def leave(self, network: str, client: str) -> None:
        """End an admitted request. One that waits gets its place, and goes on in the next turn of the reactor."""
        self._add(network, client, -1)
        while (place := self._next()) is not None:
            turn = self._waiting[place[0]][place[1]][0]
            self._remove(*place, turn)
            self._add(*place, 1)
            if not self._admitted:
                self._clock.callLater(0, self._admit)
            self._admitted.append(turn)

    def _admit(self) -> None:
        admitted, self._admitted = self._admitted, []
        for turn in admitted:
            if not turn.called:
                turn.callback(None)

    def _next(self) -> tuple[str, str] | None:
        """Return the network and the client whose turn it is; None if none of those that wait may be admitted."""
        return next(
            (
                (network, client)
                for network, clients in self._waiting.items()
                if self._networks[network] < PER_NETWORK
                for client in clients
                if self._has_place(network, client)
            ),
            None,
        )

    def _has_place(self, network: str, client: str) -> bool:
        return self._total < TOTAL and self._networks[network] < PER_NETWORK and self._clients[client] < PER_CLIENT

    def _add(self, network: str, client: str, number: int) -> None:
        self._total += number
        for counter, name in ((self._networks, network), (self._clients, client)):
            counter[name] += number
            if not counter[name]:
                del counter[name]

    def _remove(self, network: str, client: str, turn: Deferred[None]) -> bool:
        """Remove a request that waits, and put its client and network at the end; return False if it does not wait."""
        queue = self._waiting.get(network, {}).get(client, ())
        if turn not in queue:
            return False
        queue.remove(turn)
        clients = self._waiting.pop(network)
        del clients[client]
        if queue:
            clients[client] = queue
        if clients:
            self._waiting[network] = clients
        return True

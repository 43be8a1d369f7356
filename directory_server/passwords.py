"""Password hashing with argon2id, in threads, with bounded concurrency that is fair to all clients."""

from __future__ import annotations

from base64 import b64encode
from collections import OrderedDict, deque
from collections.abc import Callable
from secrets import token_bytes
from typing import NoReturn, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.python.failure import Failure

from .domain.errors import Unavailable
from .domain.ports.runtime import Offload
from .threads import detached

T = TypeVar("T")

AT_ONCE = 2
"""Concurrent hash computations. Each needs 64 MiB."""

WAITING = 50
"""The most waiting calls."""

WAITING_EACH = 8
"""The most waiting calls of one client, one or two seconds of work."""

WAITING_GROUP = 16
"""The most waiting calls of a group of clients."""

MAX_WAIT = 5
"""Seconds that a call waits at most, and after which a rejected client may try again."""

SECOND_RECOMMENDED = PasswordHasher(time_cost=3, memory_cost=64 * 1024, parallelism=4, hash_len=32, salt_len=16)
"""The second recommended option of RFC 9106, section 4, for limited memory."""


class Argon2Passwords:
    """Hashes and verifies passwords with argon2id (RFC 9106), `AT_ONCE` at a time, through `offload`.

    `group_of` returns the group of a client, whose clients share turns.
    """

    def __init__(
        self,
        offload: Offload,
        clock: IReactorTime,
        group_of: Callable[[str], str],
        hasher: PasswordHasher = SECOND_RECOMMENDED,
    ) -> None:
        self._offload = offload
        self._hasher = hasher
        self._queue = FairQueue(
            AT_ONCE, clock, group_of, total=WAITING, group=WAITING_GROUP, each=WAITING_EACH, seconds=MAX_WAIT
        )
        self._dummy_hash = _dummy_hash(hasher)

    async def hash(self, password: str, *, client: str = "") -> str:
        """Return the hash of a password. Raises Unavailable if too many calls wait."""
        return await self._in_turn(client, lambda: self._hasher.hash(password))

    async def verify(self, hashed: str | None, password: str, *, client: str = "") -> bool:
        """Return whether `hashed` is the hash of `password`; None takes as long and is False.

        Raises Unavailable if too many calls wait.
        """
        expected = hashed or self._dummy_hash

        def verify() -> bool:
            try:
                return self._hasher.verify(expected, password)
            except (VerificationError, InvalidHashError):
                return False

        return await self._in_turn(client, verify)

    async def _in_turn(self, client: str, function: Callable[[], T]) -> T:
        await self._queue.acquire(client)
        # The caller may cancel, but the thread cannot: the slot is free only when the thread has finished.
        return await detached(self._run(function))

    async def _run(self, function: Callable[[], T]) -> T:
        try:
            return await self._offload(function)
        finally:
            self._queue.release()


def _dummy_hash(hasher: PasswordHasher) -> str:
    """Return a hash that no password matches, and that takes as long to verify as any other."""
    salt, tag = (b64encode(token_bytes(size)).rstrip(b"=").decode() for size in (hasher.salt_len, hasher.hash_len))
    parameters = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    return f"$argon2id$v=19${parameters}${salt}${tag}"


@define(eq=False, repr=False)
class FairQueue:
    """Grants `at_once` slots at a time. Groups of clients get theirs round robin, and so do the clients of a group.

    At most `total` calls wait, at most `group` of one group and `each` of one client, for at most `seconds`. If the
    queue or the group is full, a new call replaces the last call of the group or client that has the most, if that has
    at least two more than those of the new call.
    """

    _free: int
    _clock: IReactorTime
    _group_of: Callable[[str], str]
    _total: int = field(kw_only=True)
    _group: int = field(kw_only=True)
    _each: int = field(kw_only=True)
    _seconds: float = field(kw_only=True)
    _waiting: OrderedDict[str, _Clients] = field(factory=OrderedDict, init=False)

    async def acquire(self, client: str) -> None:
        """Wait for a slot, which `release` frees. Raises Unavailable if too many calls wait, or for too long."""
        if self._free:
            self._free -= 1
            return
        group = self._group_of(client)
        self._reserve(group, client)
        slot: Deferred[None] = Deferred(lambda slot: self._leave(group, client, slot))
        self._waiting.setdefault(group, OrderedDict()).setdefault(client, deque()).append(slot)
        slot.addTimeout(self._seconds, self._clock, _timed_out)
        await slot

    def release(self) -> None:
        """Free a slot; the first call of the next client of the next group gets it."""
        if not self._waiting:
            self._free += 1
            return
        group, clients = next(iter(self._waiting.items()))
        client, queue = next(iter(clients.items()))
        slot = queue[0]
        self._waiting.move_to_end(group)
        clients.move_to_end(client)
        self._leave(group, client, slot)
        slot.callback(None)

    def _reserve(self, group: str, client: str) -> None:
        """Ensure that `client` may enter the queue, or raise Unavailable."""
        clients = self._waiting.get(group, _Clients())
        own = len(clients.get(client, ()))
        if own >= self._each:
            raise _too_many()
        if _size(clients) >= self._group:
            self._replace(group, own + 2)
        elif sum(map(_size, self._waiting.values())) >= self._total:
            largest = max(self._waiting, key=lambda name: _size(self._waiting[name]))
            same = largest == group
            if not same and _size(self._waiting[largest]) < _size(clients) + 2:
                raise _too_many()
            self._replace(largest, own + 2 if same else 1)

    def _replace(self, group: str, least: int) -> None:
        """End the last call of the client of `group` that has the most; raise Unavailable if it has below `least`."""
        clients = self._waiting[group]
        longest = max(clients, key=lambda name: len(clients[name]))
        if len(clients[longest]) < least:
            raise _too_many()
        slot = clients[longest][-1]
        self._leave(group, longest, slot)
        slot.errback(_too_many())

    def _leave(self, group: str, client: str, slot: Deferred[None]) -> None:
        clients = self._waiting[group]
        clients[client].remove(slot)
        if not clients[client]:
            del clients[client]
        if not clients:
            del self._waiting[group]


_Clients = OrderedDict[str, deque[Deferred[None]]]


def _size(clients: _Clients) -> int:
    return sum(map(len, clients.values()))


def _timed_out(failure: Failure | None, seconds: float) -> NoReturn:
    raise _too_many()


def _too_many() -> Unavailable:
    return Unavailable(
        f"Too many people are signing in at the moment. Try again in {MAX_WAIT} seconds.", retry_after=MAX_WAIT
    )

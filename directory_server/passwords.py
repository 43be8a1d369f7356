"""Password hashing with argon2id, in threads, with bounded concurrency that is fair to all clients."""

from __future__ import annotations

from base64 import b64encode
from collections import OrderedDict, deque
from collections.abc import Callable
from secrets import token_bytes
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from twisted.internet.defer import Deferred

from .domain.errors import Unavailable
from .domain.ports.runtime import Offload

T = TypeVar("T")

AT_ONCE = 2
"""Concurrent hash computations. Each needs 64 MiB."""

WAITING = 50
"""The most waiting calls."""

WAITING_EACH = 8
"""The most waiting calls of one client, one or two seconds of work."""

SECOND_RECOMMENDED = PasswordHasher(time_cost=3, memory_cost=64 * 1024, parallelism=4, hash_len=32, salt_len=16)
"""The second recommended option of RFC 9106, section 4, for limited memory."""


class Argon2Passwords:
    """Hashes and verifies passwords with argon2id (RFC 9106), `AT_ONCE` at a time, through `offload`."""

    def __init__(self, offload: Offload, hasher: PasswordHasher = SECOND_RECOMMENDED) -> None:
        self._offload = offload
        self._hasher = hasher
        self._queue = FairQueue(AT_ONCE, total=WAITING, each=WAITING_EACH)
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
        result: Deferred[T] = Deferred()
        work = Deferred.fromCoroutine(self._run(function))
        work.addBoth(self._release)
        work.addCallbacks(result.callback, result.errback)
        return await result

    async def _run(self, function: Callable[[], T]) -> T:
        return await self._offload(function)

    def _release(self, result: T) -> T:
        self._queue.release()
        return result


def _dummy_hash(hasher: PasswordHasher) -> str:
    """Return a hash that no password matches, and that takes as long to verify as any other."""
    salt, tag = (b64encode(token_bytes(size)).rstrip(b"=").decode() for size in (hasher.salt_len, hasher.hash_len))
    parameters = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    return f"$argon2id$v=19${parameters}${salt}${tag}"


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

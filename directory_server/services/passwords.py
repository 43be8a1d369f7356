"""Password hashing with argon2id, in threads, with bounded concurrency that is fair to all clients."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from secrets import token_bytes
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from twisted.internet.interfaces import IReactorTime

from ..domain.errors import Unavailable
from ..domain.ports.runtime import Offload
from ..runtime.fair_queue import FairQueue
from ..runtime.threads import detached

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
        self._group_of = group_of
        self._queue = FairQueue(
            clock, _too_many, AT_ONCE, seconds=MAX_WAIT, total=WAITING, group=WAITING_GROUP, each=WAITING_EACH
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
        await self._queue.acquire(client, self._group_of(client))
        # The caller may cancel, but the thread cannot: the slot is free only when the thread has finished.
        return await detached(self._run(function, client))

    async def _run(self, function: Callable[[], T], client: str) -> T:
        try:
            return await self._offload(function)
        finally:
            self._queue.release(client)


def _dummy_hash(hasher: PasswordHasher) -> str:
    """Return a hash that no password matches, and that takes as long to verify as any other."""
    salt, tag = (b64encode(token_bytes(size)).rstrip(b"=").decode() for size in (hasher.salt_len, hasher.hash_len))
    parameters = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    return f"$argon2id$v=19${parameters}${salt}${tag}"


def _too_many() -> Unavailable:
    return Unavailable(
        f"Too many people are signing in at the moment. Try again in {MAX_WAIT} seconds.", retry_after=MAX_WAIT
    )

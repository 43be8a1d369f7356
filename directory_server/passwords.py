"""Passwords by argon2id, in threads, a few at a time."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from secrets import token_bytes
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from twisted.internet.defer import Deferred

from .domain.ports.runtime import Offload
from .fair_queue import Turns

T = TypeVar("T")

AT_ONCE = 2
"""Hashes that are computed at a time: each takes 64 MiB while it lasts."""

WAITING = 50
"""Hashes that may wait for their turn; more people than that do not sign in within a few seconds."""

WAITING_EACH = 8
"""Of these, hashes of one client: with two at a time it waits a second or two for them."""

SECOND_RECOMMENDED = PasswordHasher(time_cost=3, memory_cost=64 * 1024, parallelism=4, hash_len=32, salt_len=16)
"""The second recommended option of RFC 9106, section 4, for where memory is scarce."""


class Argon2Passwords:
    """Hashes and verifies passwords by argon2id (RFC 9106), `AT_ONCE` at a time, where `offload` puts them."""

    def __init__(self, offload: Offload, hasher: PasswordHasher = SECOND_RECOMMENDED) -> None:
        self._offload = offload
        self._hasher = hasher
        self._turns = Turns(AT_ONCE, total=WAITING, each=WAITING_EACH)
        self._nobodys = _nobodys(hasher)

    async def hash(self, password: str, *, client: str = "") -> str:
        """Return what is kept of a password. Raises Unavailable where too many wait already."""
        return await self._in_turn(client, lambda: self._hasher.hash(password))

    async def verify(self, hashed: str | None, password: str, *, client: str = "") -> bool:
        """Tell whether `password` is the one that `hashed` was made of; None, that of nobody, takes as long.

        Raises Unavailable where too many wait already.
        """
        known = hashed or self._nobodys

        def verify() -> bool:
            try:
                return self._hasher.verify(known, password)
            except (VerificationError, InvalidHashError):
                return False

        return await self._in_turn(client, verify)

    async def _in_turn(self, client: str, function: Callable[[], T]) -> T:
        await self._turns.acquire(client)
        # Who asked may leave, but not the thread: the turn is over when it is through.
        asked: Deferred[T] = Deferred()
        work = Deferred.fromCoroutine(self._run(function))
        work.addBoth(self._release)
        work.addCallbacks(asked.callback, asked.errback)
        return await asked

    async def _run(self, function: Callable[[], T]) -> T:
        return await self._offload(function)

    def _release(self, result: T) -> T:
        self._turns.release()
        return result


def _nobodys(hasher: PasswordHasher) -> str:
    """Return a hash that no password has, and that takes as long to verify as any other."""
    salt, tag = (b64encode(token_bytes(size)).rstrip(b"=").decode() for size in (hasher.salt_len, hasher.hash_len))
    parameters = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    return f"$argon2id$v=19${parameters}${salt}${tag}"

"""Ports of access control: keys, tokens, quota."""

from __future__ import annotations

from typing import Protocol

from ..quota import Allowance
from ..scopes import Scope
from ..throttling import AttemptLimit
from .points import Single


class Attempts(Protocol):
    """Attempts to sign in and to use links, counted over all processes with the same storage or in each process."""

    async def charge(self, limit: AttemptLimit, client: str) -> None:
        """Count one attempt of `client`. Raises Throttled, without counting, if the client is at the `limit`.

        `client` is any text. Raises Unavailable.
        """


class Quota(Protocol):
    """Requests spent by each key: exact in any window, shared by all processes, durable before a method returns.

    All processes use one clock, which is independent of changes of the system time. No method blocks the reactor's
    thread. Methods raise Unavailable if storage does not respond within a few seconds.
    """

    async def charge(self, key_id: str, limit: int | None) -> Allowance:
        """Spend one request. Raises QuotaExceeded, without spending, if `limit` requests of the window are spent."""

    async def peek(self, key_id: str, limit: int | None) -> Allowance:
        """Return the remaining quota without spending any."""

    async def last(self, key_id: str) -> float | None:
        """Return when a key last spent a request, in seconds since the epoch; None if never."""

    async def prune(self) -> None:
        """Delete some records from before the window; the next call continues."""


class TokenIssuer(Protocol):
    """An issuer whose tokens a feature accepts."""

    url: str
    last_success: float | None
    """When its keys were fetched last, in seconds since the epoch."""

    error: str
    """The error since then."""


class Scopes(Protocol):
    """Which entries a client may see. All methods raise Unavailable."""

    async def of(self, reader: str | None, name: str = "") -> Scope:
        """Return the scope of a client: the id of an account, or of a key without one; None for an anonymous client.

        With the `name` of a list, return the scope of this list. Raises NotFound if the client may not see the list, or
        there is none.
        """


SCOPES = Single[Scopes | None](None)
"""Decide which entries a request may see. Without them every reader sees all."""


class Passwords(Protocol):
    """Password hashing, deliberately slow.

    `client` identifies the client for fair queueing: clients take turns, and each may have only a few waiting calls.
    """

    async def hash(self, password: str, *, client: str = "") -> str:
        """Return the hash of a password. Raises Unavailable if too many calls wait."""

    async def verify(self, hashed: str | None, password: str, *, client: str = "") -> bool:
        """Return whether `hashed` is the hash of `password`; None takes as long and is False. Raises Unavailable."""

"""Ports of accounts: accounts, sessions, new secrets, passwords."""

from __future__ import annotations

from typing import Protocol


class Passwords(Protocol):
    """Password hashing, deliberately slow.

    `client` identifies the client for fair queueing: clients take turns, and each may have only a few waiting calls.
    """

    async def hash(self, password: str, *, client: str = "") -> str:
        """Return the hash of a password. Raises Unavailable if too many calls wait."""

    async def verify(self, hashed: str | None, password: str, *, client: str = "") -> bool:
        """Return whether `hashed` is the hash of `password`; None takes as long and is False. Raises Unavailable."""

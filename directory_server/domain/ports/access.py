"""Ports of access control: keys, tokens, quota."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from ..keys import ApiKey, RegistryToken
from ..quota import Allowance


class KeyRing(Protocol):
    """API keys: their hashes are kept, their secrets are not."""

    async def create(
        self,
        label: str,
        *,
        limit: int | None,
        expires_at: float | None,
        owner: str | None = None,
        most: int | None = None,
    ) -> tuple[ApiKey, str]:
        """Make a key; return it and its secret, which cannot be had again.

        `owner` is an account. Raises TooManyKeys where that has `most` keys; one that has ended counts for an hour
        more, or each new key would bring new quota.
        """

    async def find(self, secret: str) -> ApiKey | None:
        """Return the key that `secret` opens now; None if malformed, unknown, revoked, expired or of one disabled."""

    async def list(self, owner: str | None = None) -> Sequence[ApiKey]:
        """Return every key, or every one of `owner`, oldest first, revoked and expired ones too."""

    async def revoke(self, key_id: str) -> None:
        """End a key now. Raises NotFound."""

    async def rotate(self, key_id: str, *, grace: float) -> tuple[ApiKey, str]:
        """Give a key a new secret; the old one works for `grace` seconds more. Raises NotFound.

        The key keeps its id, and with it its spent quota and its sessions.
        """

    async def live(self, key_ids: Collection[str]) -> set[str]:
        """Return those of `key_ids` that are neither revoked nor expired now, nor of a disabled account."""


class RegistryTokens(Protocol):
    """Tokens that open the registry API: their hashes are kept, their secrets are not."""

    async def create(self, label: str) -> tuple[RegistryToken, str]:
        """Make a token; return it and its secret, which cannot be had again."""

    async def find(self, secret: str) -> RegistryToken | None:
        """Return the token that `secret` is, None if it is unknown or revoked."""

    async def list(self) -> Sequence[RegistryToken]:
        """Return every token, oldest first, revoked ones too."""

    async def revoke(self, token_id: str) -> None:
        """End a token now. Raises NotFound."""


class Quota(Protocol):
    """How often each key has asked: exact in any window, shared by all processes, durable before it returns.

    All processes use one clock, which does not follow when the time of day is set. None of the methods blocks the
    reactor's thread; where storage does not answer within a few seconds, they raise Unavailable.
    """

    async def charge(self, key_id: str, limit: int | None) -> Allowance:
        """Spend one unit; raises QuotaExceeded, and spends nothing, where `limit` of the window are spent."""

    async def peek(self, key_id: str, limit: int | None) -> Allowance:
        """Return what is left, spending nothing."""

    async def last(self, key_id: str) -> float | None:
        """Return when a key last spent a unit, in seconds since the epoch; None if it never did."""

    async def prune(self) -> None:
        """Forget some of what was spent before the window; what cannot be forgotten now is left for the next call."""

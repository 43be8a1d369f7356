"""Ports of access control: keys, tokens, quota."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from ..keys import ApiKey, KeyUse, RegistryToken
from ..quota import Allowance
from ..scopes import Scope
from ..throttling import AttemptLimit


class KeyRing(Protocol):
    """API keys. Only digests of their secrets are stored."""

    async def create(
        self,
        label: str,
        *,
        limit: int | None,
        expires_at: float | None,
        owner: str | None = None,
        most: int | None = None,
    ) -> tuple[ApiKey, str]:
        """Create a key; return it and its secret, which cannot be read again.

        `owner` is the id of an account. Raises BadInput, and TooManyKeys if the owner has `most` keys. A revoked or
        expired key counts for one hour more, so that replacing keys yields no additional quota.
        """

    async def find(self, secret: str) -> ApiKey | None:
        """Return the key that `secret` authenticates as.

        None if it is malformed, unknown, revoked or expired, or its owner is disabled.
        """

    async def of_subject(self, subject: bytes, label: str, *, limit: int | None) -> ApiKey | None:
        """Return the key of a subject, by the digest of issuer and subject; create it if there is none.

        Its owner is the account that the subject signs in to, if there is one. None if the key was revoked or its owner
        is disabled. `label` and `limit` are those of a new key.
        """

    async def list(self, owner: str | None = None) -> Sequence[ApiKey]:
        """Return all keys, or all keys with a secret of `owner`, oldest first, including revoked and expired ones."""

    async def rename(self, key_id: str, label: str) -> None:
        """Change the label of a key. Raises NotFound, and BadInput for the label."""

    async def set_limit(self, key_id: str, limit: int | None) -> None:
        """Change the limit of a key, None for no limit. Raises NotFound, and BadInput for the limit.

        The change counts at once in this process, and within a second in others.
        """

    async def revoke(self, key_id: str) -> None:
        """Revoke a key: at once in this process, and within a second in others. Raises NotFound."""

    async def rotate(self, key_id: str, *, grace: float) -> tuple[ApiKey, str]:
        """Replace the secret of a key; the old one stays valid for `grace` seconds. Raises NotFound and BadInput.

        The id of the key stays, and with it the spent quota and open sessions.
        """

    async def replaced(self, owner: str) -> Mapping[str, float]:
        """Return when the last replaced secret of each key of `owner` ends; keys without a valid one are left out."""

    async def live(self, key_ids: Collection[str]) -> set[str]:
        """Return those of `key_ids` that are valid: not revoked, not expired, owner not disabled."""

    async def ended(self, within: float) -> set[str]:
        """Return the keys that were revoked or expired, or whose owner was disabled, in the last `within` seconds.

        The clock is the adapter's. Keys of a removed account are not among them, but not `live` either.
        """


class KeyUses(Protocol):
    """The last use of each key, for the owner of the key. Nothing depends on it: a lost record is harmless."""

    async def record(self, uses: Sequence[KeyUse]) -> None:
        """Store the last uses of different keys. Ignore one that is older than the stored one, or of no valid key."""

    async def list(self, owner: str | None = None) -> Mapping[str, KeyUse]:
        """Return the last uses of all keys, or of all keys of `owner`, by the ids of the keys."""

    async def of(self, key_ids: Sequence[str]) -> Mapping[str, KeyUse]:
        """Return the last uses of some keys, by the ids of the keys."""

    async def forget(self, before: float) -> None:
        """Delete the uses at `before` (seconds since the epoch) or earlier."""


class RegistryTokens(Protocol):
    """Tokens for the registry API. Only digests of their secrets are stored."""

    async def create(self, label: str) -> tuple[RegistryToken, str]:
        """Create a token; return it and its secret, which cannot be read again. Raises BadInput."""

    async def find(self, secret: str) -> RegistryToken | None:
        """Return the token with this secret, None if it is unknown or revoked."""

    async def list(self) -> Sequence[RegistryToken]:
        """Return all tokens, oldest first, including revoked ones."""

    async def revoke(self, token_id: str) -> None:
        """Revoke a token, effective immediately. Raises NotFound."""


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

"""Logins without a token of the operator: what a login proves becomes a short-lived publisher token."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from attrs import frozen

from ...domain.errors import Forbidden
from ...domain.ports.access import Attempts, TokenIssuer
from ...domain.throttling import AttemptLimit
from .tables import PublicationLog, PublisherTokens
from .tokens import DONE, Proven, Publication, PublisherToken, logged, permitted

Prove = Callable[[Any, str], Awaitable[Proven]]
"""Returns what the body of a request of a client, a network, proves.

Raises InvalidServer, InvalidToken and Unavailable.
"""


@frozen
class AllowedLogin:
    """A way to log in, and the patterns of namespaces that it may publish; `*` is all that it proves."""

    prove: Prove
    allowed: Sequence[str]
    issuer: TokenIssuer | None = None


@frozen
class LoginService:
    """Creates short-lived publisher tokens for logins, by the name of their method. `limit` is of each namespace."""

    _logins: Mapping[str, AllowedLogin]
    _tokens: PublisherTokens
    _log: PublicationLog
    _attempts: Attempts
    _now: Callable[[], float]
    _limit: AttemptLimit

    @property
    def issuers(self) -> Sequence[TokenIssuer]:
        """The issuers whose tokens log in."""
        return [login.issuer for login in self._logins.values() if login.issuer is not None]

    @property
    def methods(self) -> Sequence[str]:
        """The methods that work."""
        return list(self._logins)

    async def log_in(self, method: str, body: Any, network: str) -> tuple[PublisherToken, str]:
        """Return a new token for what `body` proves, and its secret. Raises Forbidden and Throttled.

        Raises what Prove raises, too.
        """
        chosen = self._logins[method]
        proven = await chosen.prove(body, network)
        namespaces = permitted(proven.namespaces, chosen.allowed)
        if not namespaces:
            raise Forbidden(
                f"This login is of {', '.join(proven.namespaces)}, which may not be published here by {method}.",
                code="forbidden_namespace",
            )
        await self._attempts.charge(self._limit, f"{method} {proven.namespaces[0]}")
        token, secret = await self._tokens.grant(proven, namespaces)
        named = logged(", ".join(namespaces))
        await self._log.add(
            Publication(self._now(), token.id, token.label, f"login: {method}", named, "*", network, DONE)
        )
        return token, secret

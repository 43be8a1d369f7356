"""API-key authentication and quota charging."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Protocol

from attrs import define, field, frozen
from twisted.internet.interfaces import IReactorTime

from ..domain.errors import BadInput, NoAccess, QuotaExceeded, Unauthorized, Unavailable
from ..domain.keys import ApiKey
from ..domain.ports.access import Quota, Scopes, TokenIssuer
from ..domain.ports.points import Single
from ..domain.publishing import SubjectPublisher
from ..domain.quota import Allowance
from ..http import Request
from ..http.headers import values
from ..runtime.fair_queue import FairQueue
from ..services.catalogue import decide_scope
from ..tables import StoredKeyRing
from .error_responses import note_error
from .key_uses import KeyUseRecorder
from .throttling import AddressLimiter

_KEY_IN_URL = re.compile(
    r"mcp[dp]_[0-9A-Za-z]{38}|[?&](api[-_]?key|access[-_]?token|key|token|authorization)=", re.IGNORECASE
)

_ENCODED = re.compile("%(2D|3[0-9]|4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9A])", re.IGNORECASE)
"""Letters, digits, "-" and "_" in percent-encoding, which equal the plain characters (RFC 3986, section 6.2.2.2)."""

_BEARER = re.compile(r"^bearer\s+", re.IGNORECASE)


PER_CLIENT, TOTAL = 2, 64
"""Admitted requests of one client (an account or a key), and in total. Those of a client are few: a request of another
client waits for all that are admitted, because searches run one after the other."""

WAIT = 2
"""Seconds after which a request that waits is rejected, and after which its client may try again."""


def admission(clock: IReactorTime) -> FairQueue:
    """Return the queue of requests before their charge, in which networks take turns, and the clients of each.

    The rest of the server does not wait behind the requests that wait here.
    """
    message = "The server is overloaded. Try again in a few seconds, with fewer requests at a time."
    overloaded = partial(Unavailable, message, retry_after=WAIT)
    return FairQueue(clock, overloaded, TOTAL, seconds=WAIT, each_at_once=PER_CLIENT)


@define(eq=False)
class AuthenticatedRequest:
    """A request authenticated by an API key, until its response: the context of `Authenticator.authenticate`."""

    _authenticator: Authenticator
    request: Request
    _secret: str | None
    key: ApiKey = field(init=False)
    is_reported: bool = field(default=False, init=False)
    """Whether the quota headers of the response are set."""
    _unavailable: Unavailable | None = field(default=None, init=False)
    _is_admitted: bool = field(default=False, init=False)

    async def __aenter__(self) -> AuthenticatedRequest:
        authenticator, request = self._authenticator, self.request
        check_url(request)
        key = await authenticator.keys.find(bearer_secret(request) if self._secret is None else self._secret)
        if key is None:
            key = await authenticator.subject(request, self._secret)
        self.key = key
        request.key_id = key.id  # for the access log
        authenticator.uses.note(key.id, request)
        if authenticator.scopes is not None:
            await decide_scope(authenticator.scopes, request, key.client_id)
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._is_admitted:
            self._authenticator.admission.release(self.key.client_id)
        if not self.is_reported and self._unavailable is None:
            await self.report_quota()

    async def charge(self, *, waits: bool = True) -> None:
        """Charge one request to the key's quota, and set the quota headers of the response.

        If it `waits`, the request is admitted before, once for all its charges. Raises QuotaExceeded.
        Raises Unavailable if the server is overloaded or the storage does not respond, and then at each later call
        without a new attempt: otherwise each call of a batch would wait for the timeout.
        """
        if self._unavailable is not None:
            raise self._unavailable
        try:
            if waits and not self._is_admitted:
                await self._authenticator.admission.acquire(self.key.client_id, self.request.network)
                self._is_admitted = True
            allowance = await self._authenticator.quota.charge(self.key.quota_id, self.key.limit)
        except QuotaExceeded as error:
            self._authenticator.exceeded()
            self._set_quota_fields(error.allowance)
            self.request.setHeader("Retry-After", str(error.allowance.reset))
            raise
        except Unavailable as error:
            self._unavailable = error
            raise
        self._set_quota_fields(allowance)

    def note_error(self, code: str) -> None:
        """Record the code of an error in the response, for the access log and the metrics."""
        note_error(self.request, code)

    def note_mcp_client(self, client_info: Any) -> None:
        """Record the `clientInfo` of an MCP client, for the last use of the key."""
        self._authenticator.uses.note_mcp_client(self.key.id, self.request, client_info)

    async def report_quota(self) -> None:
        """Set the quota headers of the response, unless a charge has set them or the quota cannot be read.

        A request that costs nothing must not fail because of the quota.
        """
        if not self.is_reported and not self.request.startedWriting:
            with suppress(Unavailable):
                self._set_quota_fields(await self._authenticator.quota.peek(self.key.quota_id, self.key.limit))

    def _set_quota_fields(self, allowance: Allowance) -> None:
        self.is_reported = True
        limit, remaining, reset = allowance.limit, allowance.remaining, allowance.reset
        if limit is None:
            return
        # draft-ietf-httpapi-ratelimit-headers-10, and the three X- headers for older clients.
        fields = {
            "RateLimit-Policy": f'"hour";q={limit};w={allowance.window}',
            "RateLimit": f'"hour";r={remaining};t={reset}',
            "X-RateLimit-Limit": str(limit),
            "X-RateLimit-Remaining": str(remaining),
            "X-RateLimit-Reset": str(reset),
        }
        for name, text in fields.items():
            self.request.setHeader(name, text)


class AccessTokens(Protocol):
    """Access tokens of issuers, which clients send in place of API keys (RFC 6750)."""

    @property
    def issuers(self) -> Sequence[TokenIssuer]:
        """The issuers, for `/healthz`."""

    async def find(self, token: str) -> ApiKey | None:
        """Return the key of the subject of a token, None if `token` does not look like one.

        Raises InvalidToken, InsufficientScope, and Unavailable if the keys of the issuer cannot be read.
        """

    async def publisher(self, token: str) -> SubjectPublisher | None:
        """Return who publishes with a token, None if `token` does not look like one. Raises as `find` does."""

    def challenge(self, request: Request, error: NoAccess, *, publishes: bool = False) -> str:
        """Return the WWW-Authenticate header of the response to a request without a valid secret."""


@frozen
class Authenticator:
    """Authenticate requests by API key, or by access token if there are `tokens`.

    `failures` limits the failed attempts per client address. `exceeded` is called for each charge that exceeds the
    quota of its key. `admission` admits requests before they are charged. `scopes` decide which entries a request may
    see.
    """

    keys: StoredKeyRing
    quota: Quota
    failures: AddressLimiter
    uses: KeyUseRecorder
    exceeded: Callable[[], None]
    admission: FairQueue
    tokens: AccessTokens | None = None
    scopes: Scopes | None = None

    async def subject(self, request: Request, secret: str | None = None) -> ApiKey:
        """Return the key of the subject of an access token. Raises the errors of `authenticate` for another secret."""
        error: NoAccess = Unauthorized()
        if self.tokens is not None:
            try:
                key = await self.tokens.find(bearer_secret(request) if secret is None else secret)
            except NoAccess as wrong:
                error = wrong
            else:
                if key is not None:
                    return key
            error.challenge = self.tokens.challenge(request, error)
        # Charged after the look-up: a valid key is accepted whatever other clients behind its address do.
        self.failures.charge(request)
        raise error

    def authenticate(self, request: Request, secret: str | None = None) -> AuthenticatedRequest:
        """Authenticate a request while the context is open, and report the quota in its response.

        The secret is `secret`, or that of the Authorization header if `secret` is None.
        Raises NoAccess, Throttled for an address with too many failed attempts, and BadInput for a key in the URL,
        because URLs end up in logs and browser histories.
        """
        return AuthenticatedRequest(self, request, secret)


def check_url(request: Request) -> None:
    """Raise BadInput for a key in the URL."""
    text = _ENCODED.sub(lambda encoded: chr(int(encoded[1], 16)), request.uri.decode("latin-1"))
    if _KEY_IN_URL.search(text):
        raise BadInput(
            "The URL must not contain an API key. Send the key in the header: Authorization: Bearer <key>.",
            code="key_in_url",
        )


def bearer_secret(request: Request) -> str:
    """Return the key in the Authorization header, after `Bearer` (RFC 6750, section 2.1) or alone; empty if none."""
    # Some clients send the header twice, or join both values: "Bearer k, Bearer k". Equal keys are one key.
    secrets = {_BEARER.sub("", part.strip()) for value in values(request, "Authorization") for part in value.split(",")}
    return secrets.pop() if len(secrets) == 1 else ""


ACCESS_TOKENS = Single[AccessTokens | None](None)
"""Authenticate clients in place of API keys."""

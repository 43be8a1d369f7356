"""API-key authentication and quota charging."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from attrs import define, field, frozen

from ..domain.errors import BadInput, QuotaExceeded, Unauthorized, Unavailable
from ..domain.keys import ApiKey
from ..domain.ports.access import KeyRing, Quota
from ..domain.quota import Allowance
from ..http import Request
from ..http.headers import values
from .error_responses import note_error
from .rate_limit import AddressLimiter
from .responses import set_fields

_KEY_IN_URL = re.compile(
    rb"mcpd_[0-9A-Za-z]{38}|[?&](api[-_]?key|access[-_]?token|key|token|authorization)=", re.IGNORECASE
)

_BEARER = re.compile(r"^bearer\s+", re.IGNORECASE)


@define
class AuthenticatedRequest:
    """A request authenticated by an API key, until its response."""

    key: ApiKey
    _request: Request
    _quota: Quota
    _is_reported: bool = field(default=False, init=False)
    _unavailable: str = field(default="", init=False)

    async def charge(self) -> None:
        """Charge one request to the key's quota, and set the quota headers of the response.

        Raises QuotaExceeded. Raises Unavailable if the storage does not respond, and then at each later call without
        a new attempt: otherwise each call of a batch would wait for the timeout.
        """
        if self._unavailable:
            raise Unavailable(self._unavailable)
        try:
            allowance = await self._quota.charge(self.key.quota_id, self.key.limit)
        except QuotaExceeded as error:
            self._set_quota_fields(error.allowance)
            self._request.setHeader("Retry-After", str(error.allowance.reset))
            raise
        except Unavailable as error:
            self._unavailable = error.message
            raise
        self._set_quota_fields(allowance)

    def note_error(self, code: str) -> None:
        """Record the code of an error in the response, for the access log and the metrics."""
        note_error(self._request, code)

    async def report_quota(self) -> None:
        """Set the quota headers of the response, unless a charge has set them or the quota cannot be read.

        A request that costs nothing must not fail because of the quota.
        """
        if not self._is_reported and not self._request.startedWriting:
            with suppress(Unavailable):
                self._set_quota_fields(await self._quota.peek(self.key.quota_id, self.key.limit))

    def _set_quota_fields(self, allowance: Allowance) -> None:
        self._is_reported = True
        limit, remaining, reset, window = allowance.limit, allowance.remaining, allowance.reset, allowance.window
        if limit is None or remaining is None:
            return
        # draft-ietf-httpapi-ratelimit-headers-10, and the three X- headers for older clients.
        fields = {
            b"ratelimit-policy": b'RateLimit-Policy: "hour";q=%d;w=%d' % (limit, window),
            b"ratelimit": b'RateLimit: "hour";r=%d;t=%d' % (remaining, reset),
            b"x-ratelimit-limit": b"X-RateLimit-Limit: %d" % limit,
            b"x-ratelimit-remaining": b"X-RateLimit-Remaining: %d" % remaining,
            b"x-ratelimit-reset": b"X-RateLimit-Reset: %d" % reset,
        }
        set_fields(self._request, fields)


@frozen
class Authenticator:
    """Authenticate requests by API key. `failures` limits the failed attempts per client address."""

    _keys: KeyRing
    _quota: Quota
    _failures: AddressLimiter

    @asynccontextmanager
    async def authenticate(self, request: Request, secret: str | None = None) -> AsyncIterator[AuthenticatedRequest]:
        """Authenticate a request while the context is open, and report the quota in its response.

        The secret is `secret`, or that of the Authorization header if `secret` is None.
        Raises Unauthorized, Throttled for an address with too many failed attempts, and BadInput for a key in the URL,
        because URLs end up in logs and browser histories.
        """
        if _KEY_IN_URL.search(request.uri):
            raise BadInput(
                "The URL must not contain an API key. Send the key in the header: Authorization: Bearer <key>.",
                code="key_in_url",
            )
        key = await self._keys.find(_secret(request) if secret is None else secret)
        if key is None:
            # Charged after the look-up: a valid key is accepted whatever other clients behind its address do.
            self._failures.charge(request)
            raise Unauthorized
        authenticated = AuthenticatedRequest(key, request, self._quota)
        request.key_id = key.id  # for the access log
        try:
            yield authenticated
        finally:
            await authenticated.report_quota()


def _secret(request: Request) -> str:
    """Return the key in the Authorization header, after `Bearer` (RFC 6750, section 2.1) or alone; empty if none."""
    # Some clients send the header twice, or join both values: "Bearer k, Bearer k". Equal keys are one key.
    secrets = {_BEARER.sub("", part.strip()) for value in values(request, "Authorization") for part in value.split(",")}
    return secrets.pop() if len(secrets) == 1 else ""

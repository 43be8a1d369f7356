"""The only way in: a key for every request, a charge for those that cost one."""

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
    """One keyed request, from its admission to its answer."""

    key: ApiKey
    _request: Request
    _quota: Quota
    _shown: bool = field(default=False, init=False)
    _unavailable: str = field(default="", init=False)

    async def charge(self) -> None:
        """Spend one unit of the key's quota, and say in the answer's head what is left.

        Raises QuotaExceeded, and Unavailable where storage does not answer; then for the rest of the request too, or a
        batch would wait as often as it has calls.
        """
        if self._unavailable:
            raise Unavailable(self._unavailable)
        try:
            allowance = await self._quota.charge(self.key.quota_id, self.key.limit)
        except QuotaExceeded as error:
            self._show(error.allowance)
            self._request.setHeader("Retry-After", str(error.allowance.reset))
            raise
        except Unavailable as error:
            self._unavailable = error.message
            raise
        self._show(allowance)

    def note_error(self, code: str) -> None:
        """Note the code of an error in the answer, for the access log and the metrics."""
        note_error(self._request, code)

    async def show(self) -> None:
        """Say in the answer's head what is left, unless a charge has done so, or the quota cannot be read now.

        A request that costs nothing is answered all the same.
        """
        if not self._shown and not self._request.startedWriting:
            with suppress(Unavailable):
                self._show(await self._quota.peek(self.key.quota_id, self.key.limit))

    def _show(self, allowance: Allowance) -> None:
        self._shown = True
        limit, remaining, reset, window = allowance.limit, allowance.remaining, allowance.reset, allowance.window
        if limit is None or remaining is None:
            return
        # draft-ietf-httpapi-ratelimit-headers-10, and beside it the trio that older clients read.
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
    """Admits requests by their key; `failures` bounds how often an address may try keys that do not open."""

    _keys: KeyRing
    _quota: Quota
    _failures: AddressLimiter

    @asynccontextmanager
    async def authenticate(self, request: Request) -> AsyncIterator[AuthenticatedRequest]:
        """Let a request in for the time of its handling, and have its answer say what is left of the quota.

        Raises Unauthorized, Throttled where an address had too many of these, or BadInput where the key stands in the
        URL, whence it gets into logs and histories.
        """
        if _KEY_IN_URL.search(request.uri):
            raise BadInput(
                "A key must not stand in the URL. Send it in the header: Authorization: Bearer <key>.",
                code="key_in_url",
            )
        key = await self._keys.find(_secret(request))
        if key is None:
            # Only now: whoever else is behind an address, a good key gets in.
            self._failures.charge(request)
            raise Unauthorized
        visit = AuthenticatedRequest(key, request, self._quota)
        request.key_id = key.id  # for the access log
        try:
            yield visit
        finally:
            await visit.show()


def _secret(request: Request) -> str:
    """Return what the Authorization header names as key: after `Bearer`, or bare (RFC 6750, section 2.1)."""
    # Some clients send the header twice, or twice in one: "Bearer k, Bearer k". One key said twice is one key.
    named = {_BEARER.sub("", part.strip()) for value in values(request, "Authorization") for part in value.split(",")}
    return named.pop() if len(named) == 1 else ""

"""The page of a member's quota: what costs, the limit, and the form that asks for more."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from ...domain.errors import DirectoryError
from ...domain.keys import limit_of
from ...domain.ports.access import Attempts
from ...domain.quota import WINDOW
from ...domain.throttling import AttemptLimit
from ...http import Request
from ...web.account import AccountRequests
from .rules import MAX_REASON, QuotaRequest
from .tables import QuotaRequests

QUOTA = "/account/quota"

_BY_ACCOUNT = AttemptLimit("quota request", rate=5 / 86_400.0, burst=5)


@frozen
class MemberPages:
    """Handles `/account/quota`. `_limit` is the limit of keys of an account without one of its own."""

    _accounts: AccountRequests
    _requests: QuotaRequests
    _attempts: Attempts
    _now: Callable[[], float]
    _limit: int | None

    async def get(self, request: Request) -> bytes:
        """Return the page."""
        member = await self._accounts.member(request)
        own = member.account.limit
        values = {
            "present": self._limit if own is None else own,
            "minutes": WINDOW // 60,
            "pending": not member.account.approved,
            "last": await self._requests.find(member.account.id),
            "longest": MAX_REASON,
            "limit": "",
            "reason": "",
        }
        return self._accounts.page(request, member.session, "member", values)

    async def post(self, request: Request) -> bytes:
        """Store a request, and redirect to the page."""
        member, form = await self._accounts.member_form(request)
        wanted, reason = form.get("limit", ""), form.get("reason", "")
        try:
            asked = QuotaRequest(member.account.id, limit_of(wanted), reason, self._now()).checked()
            # An invalid request does not count.
            await self._attempts.charge(_BY_ACCOUNT, member.account.id)
            await self._requests.put(asked)
        except DirectoryError:
            return self._accounts.form_error(request, QUOTA, limit=wanted, reason=reason)
        return self._accounts.redirect(request, QUOTA, "sent")

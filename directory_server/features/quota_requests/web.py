"""The web part of quota requests: routes, handlers, tabs and notice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import frozen

from ...domain.errors import BadInput, DirectoryError
from ...domain.keys import limit_of
from ...domain.ports.access import Attempts
from ...domain.ports.accounts import Accounts
from ...domain.quota import WINDOW
from ...domain.throttling import AttemptLimit
from ...http import Request
from ...web.account import AccountRequests
from ...web.operator_requests import ADMIN, PER_PAGE, Notice, OperatorRequests
from ...web.pages import Extension
from ...web.parts import Endpoints, Kernel, WebPart
from ...web.routes import PAGES, Route
from .tables import MAX_REASON, QuotaRequest, QuotaRequests

REQUESTS = f"{ADMIN}/quota-requests"


@frozen
class OperatorPages:
    """Handles the list of open requests, and the forms that decide. `_storage` has the adapters of all ports."""

    _operators: OperatorRequests
    _requests: QuotaRequests
    _accounts: Accounts
    _storage: Any
    _now: Callable[[], float]
    _limit: int | None

    async def get(self, request: Request) -> bytes:
        """Return the oldest open requests. The next ones follow when these are decided."""
        member = await self._operators.member(request)
        rows = []
        for asked in await self._requests.open(PER_PAGE):
            listed = await self._storage.roster.account(asked.account)
            if listed is not None:
                rows.append((asked, listed, listed.account.key_limit(self._limit)))
        values = {"rows": rows, "count": await self._requests.count(), "own_id": member.account.id}
        return self._operators.page(request, member.session, "list", values)

    async def grant(self, request: Request, account_id: str) -> bytes:
        """Set the limit of all keys of an account, and redirect to the list."""
        member, form = await self._operators.member_form(request)
        try:
            if member.account.id == account_id:
                raise BadInput("You cannot change the limit of your own account.", code="own_account")
            limit = limit_of(form.get("limit", ""))
            # First, so that of two operators one decides.
            await self._requests.decide(account_id, self._now(), limit)
            await self._accounts.set_limit(account_id, limit)
        except DirectoryError:
            return self._operators.form_error(request, REQUESTS)
        return self._operators.redirect(request, REQUESTS, "granted")

    async def decline(self, request: Request, account_id: str) -> bytes:
        """Decline a request, and redirect to the list."""
        await self._operators.member_form(request)
        try:
            await self._requests.decide(account_id, self._now(), None)
        except DirectoryError:
            return self._operators.form_error(request, REQUESTS)
        return self._operators.redirect(request, REQUESTS, "declined")


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
        values = {
            "present": member.account.key_limit(self._limit),
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


NAME = "quota_requests"


def _serve(kernel: Kernel) -> Endpoints:
    storage, limit = kernel.storage, kernel.config.quota.limit
    requests = QuotaRequests(storage.tables)
    members = AccountRequests(kernel.operators.cookies, kernel.layout, NAME)
    return Endpoints(
        {
            "quota": MemberPages(members, requests, storage.attempts, kernel.now, limit),
            "quota_requests": OperatorPages(
                kernel.operators.of_folder(NAME), requests, storage.accounts, storage, kernel.now, limit
            ),
        }
    )


async def _open_requests(storage: Any) -> Notice | None:
    count = await QuotaRequests(storage.tables).count()
    return Notice(REQUESTS, f"{NAME}.open", count) if count else None


PART = WebPart(
    routes=(
        Route(QUOTA, "GET", PAGES, "quota.get"),
        Route(QUOTA, "POST", PAGES, "quota.post"),
        Route(REQUESTS, "GET", PAGES, "quota_requests.get"),
        Route(f"{REQUESTS}/{{account_id}}/grant", "POST", PAGES, "quota_requests.grant"),
        Route(f"{REQUESTS}/{{account_id}}/decline", "POST", PAGES, "quota_requests.decline"),
    ),
    serve=_serve,
    extension=Extension(
        NAME,
        "directory_server.features.quota_requests",
        tabs=(("access", REQUESTS, f"{NAME}.tab"),),
        account_tabs=((QUOTA, f"{NAME}.quota"),),
    ),
    notices=(_open_requests,),
)

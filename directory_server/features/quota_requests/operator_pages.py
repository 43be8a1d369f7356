"""Operator page of requests for a larger limit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import frozen

from ...domain.errors import BadInput, DirectoryError
from ...domain.keys import limit_of
from ...domain.ports.accounts import Accounts
from ...http import Request
from ...web.operator_requests import ADMIN, PER_PAGE, OperatorRequests
from .tables import QuotaRequests

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
                own = listed.account.limit
                rows.append((asked, listed, self._limit if own is None else own))
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

"""The web part of quota requests: handlers, tabs and notice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from ...domain.errors import BadInput
from ...domain.keys import limit_of
from ...domain.quota import WINDOW
from ...domain.throttling import AttemptLimit
from ...feature.parts import WebPart
from ...feature.server import Server
from ...web.account import AccountRequests, Next, Sent, form, page
from ...web.operator_requests import ADMIN, NOTICES, PER_PAGE, Notice, OperatorRequests
from ...web.pages import Extension
from ...web.routes import APPS, App
from .tables import MAX_REASON, QuotaRequest, QuotaRequests

REQUESTS = f"{ADMIN}/quota-requests"


@frozen
class OperatorPages:
    """Handles the list of open requests, and the forms that decide."""

    app = App()

    _requests: OperatorRequests
    _asked: QuotaRequests
    _server: Server

    @app.get(REQUESTS)
    @page("list")
    async def get(self, sent: Sent) -> Mapping[str, Any]:
        """Return the oldest open requests. The next ones follow when these are decided."""
        rows = []
        for asked in await self._asked.open(PER_PAGE):
            listed = await self._server.storage.roster.account(asked.account)
            if listed is not None:
                rows.append((asked, listed, listed.account.key_limit(self._server.config.quota.limit)))
        return {"rows": rows, "count": await self._asked.count(), "own_id": sent.member.account.id}

    @app.post(f"{REQUESTS}/{{account_id}}/grant")
    @form(REQUESTS)
    async def grant(self, sent: Sent, account_id: str) -> Next:
        """Set the limit of all keys of an account, and go to the list."""
        if sent.member.account.id == account_id:
            raise BadInput("You cannot change the limit of your own account.", code="own_account")
        limit = limit_of(sent.fields.get("limit", ""))
        # First, so that of two operators one decides.
        await self._asked.decide(account_id, self._server.now(), limit)
        await self._server.storage.accounts.set_limit(account_id, limit)
        return Next(REQUESTS, "granted")

    @app.post(f"{REQUESTS}/{{account_id}}/decline")
    @form(REQUESTS)
    async def decline(self, sent: Sent, account_id: str) -> Next:
        """Decline a request, and go to the list."""
        await self._asked.decide(account_id, self._server.now(), None)
        return Next(REQUESTS, "declined")


QUOTA = "/account/quota"

_BY_ACCOUNT = AttemptLimit("quota request", rate=5 / 86_400.0, burst=5)


@frozen
class MemberPages:
    """Handles `/account/quota`."""

    app = App()

    _requests: AccountRequests
    _asked: QuotaRequests
    _server: Server

    @app.get(QUOTA)
    @page("member")
    async def get(self, sent: Sent) -> Mapping[str, Any]:
        """Return the page."""
        account = sent.member.account
        return {
            "present": account.key_limit(self._server.config.quota.limit),
            "minutes": WINDOW // 60,
            "pending": not account.approved,
            "last": await self._asked.find(account.id),
            "longest": MAX_REASON,
            "limit": "",
            "reason": "",
        }

    @app.post(QUOTA)
    @form(QUOTA, "limit", "reason")
    async def post(self, sent: Sent) -> Next:
        """Store a request, and go to the page."""
        wanted, reason = limit_of(sent.fields.get("limit", "")), sent.fields.get("reason", "")
        asked = QuotaRequest(sent.member.account.id, wanted, reason, self._server.now()).checked()
        # An invalid request does not count.
        await self._server.storage.attempts.charge(_BY_ACCOUNT, sent.member.account.id)
        await self._asked.put(asked)
        return Next(QUOTA, "sent")


NAME = "quota_requests"


def _serve(server: Server) -> None:
    requests = QuotaRequests(server.storage.tables)
    members = AccountRequests(server.operators.cookies, server.layout, NAME)
    operators = OperatorPages(server.operators.of_folder(NAME), requests, server)
    server.add(APPS, MemberPages(members, requests, server).app, operators.app)
    server.add(NOTICES, _open_requests)


async def _open_requests(storage: Any) -> Notice | None:
    count = await QuotaRequests(storage.tables).count()
    return Notice(REQUESTS, f"{NAME}.open", count) if count else None


PART = WebPart(
    serve=_serve,
    extension=Extension(
        NAME,
        "directory_server.features.quota_requests",
        tabs=(("access", REQUESTS, f"{NAME}.tab"),),
        account_tabs=((QUOTA, f"{NAME}.quota"),),
    ),
)

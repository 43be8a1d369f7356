"""The web part of quota requests: the page of members."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from ...domain.keys import limit_of
from ...domain.quota import WINDOW
from ...domain.requests import MAX_TEXT, Request, checked_text
from ...domain.throttling import AttemptLimit
from ...feature.parts import WebPart
from ...feature.server import Server
from ...tables import Requests
from ...web.account import AccountRequests, Next, OwnRequests, Sent, form, page
from ...web.pages import Extension
from ...web.routes import APPS, App
from .resource import QUOTA

PATH = "/account/quota"

_BY_ACCOUNT = AttemptLimit("quota request", rate=5 / 86_400.0, burst=5)


@frozen
class MemberPages(OwnRequests):
    """Handles `/account/quota`."""

    app = App()

    _server: Server

    @app.get(PATH)
    @page("member")
    async def get(self, sent: Sent) -> Mapping[str, Any]:
        """Return the page."""
        account = sent.member.account
        last = next(iter(await self.stored.of_account(account.id, 1)), None)
        return {
            "present": account.key_limit(self._server.config.quota.limit),
            "minutes": WINDOW // 60,
            "pending": not account.approved,
            "last": last,
            "events": await self.stored.events(last.id) if last else (),
            "path": f"{PATH}/{last.id}" if last else "",
            "longest": MAX_TEXT,
            "limit": "",
            "reason": "",
        }

    @app.post(PATH)
    @form(PATH, "limit", "reason")
    async def post(self, sent: Sent) -> Next:
        """Store a request, and go to the page."""
        account, wanted = sent.member.account.id, limit_of(sent.fields.get("limit", ""))
        reason = checked_text("reason", sent.fields.get("reason", ""))
        # An invalid request does not count.
        await self._server.storage.attempts.charge(_BY_ACCOUNT, account)
        request = Request(QUOTA.name, account, account=account, details={"wanted": wanted})
        await self.stored.add(request, reason, self._server.now(), "reason")
        return Next(PATH, "sent")

    app.post(f"{PATH}/{{request_id}}/{{action}}")(OwnRequests.change)


NAME = "quota_requests"


def _serve(server: Server) -> None:
    members = AccountRequests(server.operators.cookies, server.layout, NAME)
    server.add(APPS, MemberPages(members, Requests(server.storage.tables, (QUOTA,)), server.now, PATH, server).app)


PART = WebPart(
    serve=_serve,
    extension=Extension(NAME, "directory_server.features.quota_requests", account_tabs=((PATH, f"{NAME}.quota"),)),
)

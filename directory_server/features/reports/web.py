"""The web part of reports: the form of readers, and the link to it."""

from __future__ import annotations

from attrs import frozen
from twisted.python.failure import Failure

from ... import serialization
from ...domain.accounts import Account, check_not_auditor
from ...domain.errors import DirectoryError, NotFound
from ...domain.throttling import AttemptLimit
from ...domain.views import Detail
from ...feature.parts import WebPart
from ...feature.server import Server
from ...http import Request
from ...tables import Requests
from ...web.error_responses import error_response, note_error
from ...web.forms import same_site_fields
from ...web.pages import ENTRY_LINKS, EntryLink, plain
from ...web.responses import empty_response
from ...web.routes import APPS, App
from .resource import REASONS, REPORT, new_report
from .settings import ReportsConfig

DAY = 86_400.0

MAX_REPORT_FORM = 16 * 1024
"""Maximum size of the form in bytes: a text of 1,000 characters of four bytes, percent-encoded."""

_BY_ADDRESS = AttemptLimit("report by address", rate=10 / DAY, burst=5)
_BY_NETWORK = AttemptLimit("report by network", rate=30 / DAY, burst=15)


@frozen
class ReaderPages:
    """Handles `/servers/{mcp_id}/report`; `_is_on` is whether readers may report entries.

    The form needs no account and no cookie. A form of another site is rejected by its Origin. A form with an error is
    shown again in the response, because its text is too long for a cookie.
    """

    app = App()

    _server: Server
    _reports: Requests
    _is_on: bool

    @app.get("/servers/{mcp_id}/report")
    async def get(self, request: Request, mcp_id: str) -> bytes:
        viewer, detail = await self._entry(request, mcp_id)
        return self._form(request, viewer, detail)

    @app.post("/servers/{mcp_id}/report")
    async def post(self, request: Request, mcp_id: str) -> bytes:
        viewer, detail = await self._entry(request, mcp_id)
        if viewer is not None:
            check_not_auditor(viewer)
        fields = same_site_fields(request, MAX_REPORT_FORM)
        reason, text = fields.get("reason", ""), fields.get("text", "")
        try:
            # An invalid report does not count.
            report = new_report(detail.mcp_id, detail.server_name, detail.version, reason, text)
            # The address first: attempts that are rejected for one address do not use up the limit of its network.
            attempts, proxies = self._server.storage.people.attempts, self._server.proxies
            await attempts.charge(_BY_ADDRESS, proxies.client(request))
            await attempts.charge(_BY_NETWORK, proxies.network(request))
            await self._reports.add(report, text, self._server.now())
        except DirectoryError:
            return self._form(request, viewer, detail, reason, text, Failure())
        # The browser follows with GET, so a reload does not send the form again (RFC 9110, section 15.4.4).
        location = f"/servers/{detail.mcp_id}/report/sent"
        return empty_response(request, 303, Location=location, **{"Cache-Control": "no-store"})

    @app.get("/servers/{mcp_id}/report/sent")
    async def sent(self, request: Request, mcp_id: str) -> bytes:
        viewer, detail = await self._entry(request, mcp_id)
        values = {"mcp_id": detail.mcp_id, "name": _name(detail)}
        return self._server.layout.page(request, "reports/sent.html", values, account=viewer)

    async def _entry(self, request: Request, mcp_id: str) -> tuple[Account | None, Detail]:
        viewer = await self._server.access.authenticate(request)
        if not self._is_on:
            raise NotFound("Reports are turned off in this directory.")
        directory = self._server.catalogue.of(request)
        return viewer, await directory.detail_of(await directory.entry(serialization.entry_id(mcp_id)))

    def _form(
        self,
        request: Request,
        viewer: Account | None,
        detail: Detail,
        reason: str = "",
        text: str = "",
        failure: Failure | None = None,
    ) -> bytes:
        status, error, retry_after = 200, "", 0
        if failure is not None:
            response = error_response(failure)
            note_error(request, response.code)
            status, error, retry_after = response.status, response.code, int(response.headers.get("Retry-After", 0))
        values = {
            "mcp_id": detail.mcp_id,
            "name": _name(detail),
            "reasons": REASONS,
            "longest": REPORT.longest,
            "reason": reason,
            # Longer than the limit, so that a rejected text can be shortened.
            "text": plain(text, 2 * REPORT.longest),
            "error": error,
            "retry_after": retry_after,
        }
        return self._server.layout.page(request, "reports/form.html", values, account=viewer, status=status)


def _name(detail: Detail) -> str:
    return plain(detail.name, 100) or detail.mcp_id


NAME = "reports"


def _serve(server: Server) -> None:
    is_enabled = server.config.of(ReportsConfig).enabled
    server.add(APPS, ReaderPages(server, Requests(server.storage.tables, (REPORT,)), is_enabled).app)
    if is_enabled:
        server.add(ENTRY_LINKS, EntryLink("report", f"{NAME}.link"))


PART = WebPart(serve=_serve)

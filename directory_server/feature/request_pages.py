"""The page where members ask for what a kind of requests is about, and see what became of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve, frozen

from ..domain.errors import BadInput, DirectoryError
from ..domain.requests import Kind, checked_text
from ..domain.throttling import AttemptLimit
from ..http import Request as HttpRequest
from ..request_resource import RequestForm, RequestResource
from ..resource import Resource
from ..tables import Requests
from ..web.account import AccountRequests, Member, OwnRequests
from ..web.routes import APPS, App
from .parts import WebPart
from .resource_pages import NOTHING_SENT, form_error
from .server import Server

SHOWN = 5
"""The last requests of a member on the page."""


@frozen
class MemberRequests(OwnRequests):
    """Handles the page of the form of a kind. An account that is not approved sends nothing: anybody may have one."""

    _resource: RequestResource
    _form: RequestForm
    _server: Server

    async def get(self, request: HttpRequest) -> bytes:
        """Return the form and the last requests with their history."""
        return await self._show(request, await self._requests.member(request), NOTHING_SENT, 200)

    async def post(self, request: HttpRequest) -> bytes:
        """Store a request, and go to the page."""
        member, sent = await self._requests.member_form(request)
        form, kind, account = self._form, self._resource.kind, member.account
        try:
            if not account.approved:
                raise BadInput("Your account is not approved.", code="not_approved")
            made = form.new(account, **{field.name: field.read(sent) for field in form.fields})
            checked_text("text", text := sent.get("text", ""), is_required=kind.needs_text)
            # An invalid request does not count.
            limit = AttemptLimit(f"{kind.name} request", rate=5 / 86_400.0, burst=5)
            await self._server.storage.people.attempts.charge(limit, account.id)
            await self.stored.add(made, text, self._server.now())
        except DirectoryError as error:
            shown = form_error(request, self._resource.form_fields, sent, error)
            return await self._show(request, member, shown, shown["status"])
        return self._requests.redirect(request, kind.page, "sent")

    async def _show(self, request: HttpRequest, member: Member, shown: Mapping[str, Any], status: int) -> bytes:
        form, own = self._form, await self.stored.of_account(member.account.id, SHOWN)
        open_ones = sum(asked.is_open for asked in own)
        values = {
            **(await form.extra(self._server, member.account) if form.extra else {}),
            **shown,
            "resource": self._resource,
            "own": [(asked, await self.stored.events(asked.id)) for asked in own],
            "can_ask": member.account.approved and not 0 < self._resource.kind.per_account <= open_ones,
            "reason": "",
        }
        return self._requests.page(request, member.session, "asked", values, status)


def with_forms(part: WebPart, resources: Sequence[Resource]) -> WebPart:
    """Return a part of the web server with the pages of members for kinds of requests among `resources`."""
    forms = [
        (resource, resource.form, _app(resource.kind))
        for resource in resources
        if isinstance(resource, RequestResource) and resource.form
    ]
    if not forms:
        return part

    def serve(server: Server) -> None:
        part.serve(server)
        members = AccountRequests(server.operators.cookies, server.layout)
        for resource, form, app in forms:
            kind = resource.kind
            stored = Requests(server.storage.tables, (kind,))
            server.add(APPS, app.bound(MemberRequests(members, stored, server.now, kind.page, resource, form, server)))

    tabs = [(resource.kind.page, f"{resource.texts}.own") for resource, _, _ in forms]
    return evolve(part, account_tabs=(*part.account_tabs, *tabs), serve=serve)


def _app(kind: Kind) -> App:
    app = App()
    app.get(kind.page)(MemberRequests.get)
    app.post(kind.page)(MemberRequests.post)
    app.post(f"{kind.page}/{{request_id}}/{{action}}")(MemberRequests.change)
    return app

"""The page where members ask for what a kind of requests is about, and see what became of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from attrs import frozen

from ..domain.accounts import Account
from ..domain.errors import DirectoryError
from ..domain.requests import Kind, Request, checked_text
from ..domain.throttling import AttemptLimit
from ..http import Request as HttpRequest
from ..resource import Field
from ..tables import Requests
from ..web.account import AccountRequests, Member, OwnRequests
from ..web.pages import Extension
from ..web.routes import APPS, App
from .parts import WebPart
from .resource_pages import NOTHING_SENT, form_error
from .server import Server

SHOWN = 5
"""The last requests of a member on the page."""


@frozen
class RequestForm:
    """The page of members of a kind, at the `page` of the kind.

    `new` returns a request for the account and the values of `fields`, or raises BadInput; the text is a field of all.
    `template` is a part of the page, with what `extra` returns for a member.
    """

    kind: Kind
    texts: str
    fields: tuple[Field, ...]
    new: Callable[..., Request]
    template: str = ""
    extra: Callable[[Server, Account], Awaitable[Mapping[str, Any]]] | None = None

    @property
    def all_fields(self) -> tuple[Field, ...]:
        return (*self.fields, Field("text", "", "long", self.kind.longest, is_required=self.kind.needs_text))


@frozen
class MemberRequests(OwnRequests):
    """Handles the page of a `RequestForm`."""

    _form: RequestForm
    _server: Server

    async def get(self, request: HttpRequest) -> bytes:
        """Return the form and the last requests with their history."""
        return await self._show(request, await self._requests.member(request), NOTHING_SENT, 200)

    async def post(self, request: HttpRequest) -> bytes:
        """Store a request, and go to the page."""
        member, sent = await self._requests.member_form(request)
        form, account = self._form, member.account
        try:
            made = form.new(account, **{field.name: field.read(sent) for field in form.fields})
            checked_text("text", text := sent.get("text", ""), is_required=form.kind.needs_text)
            # An invalid request does not count.
            limit = AttemptLimit(f"{form.kind.name} request", rate=5 / 86_400.0, burst=5)
            await self._server.storage.people.attempts.charge(limit, account.id)
            await self.stored.add(made, text, self._server.now())
        except DirectoryError as error:
            shown = form_error(request, form.all_fields, sent, error)
            return await self._show(request, member, shown, shown["status"])
        return self._requests.redirect(request, form.kind.page, "sent")

    async def _show(self, request: HttpRequest, member: Member, shown: Mapping[str, Any], status: int) -> bytes:
        form, own = self._form, await self.stored.of_account(member.account.id, SHOWN)
        open_ones = sum(asked.is_open for asked in own)
        values = {
            **(await form.extra(self._server, member.account) if form.extra else {}),
            **shown,
            "form": form,
            "own": [(asked, await self.stored.events(asked.id)) for asked in own],
            "can_ask": not 0 < form.kind.per_account <= open_ones,
            "reason": "",
        }
        return self._requests.page(request, member.session, "asked", values, status)


def member_part(form: RequestForm, name: str, package: str) -> WebPart:
    """Return the page of a form as the web part of the feature `name` in `package`."""
    app, path = App(), form.kind.page
    app.get(path)(MemberRequests.get)
    app.post(path)(MemberRequests.post)
    app.post(f"{path}/{{request_id}}/{{action}}")(MemberRequests.change)

    def serve(server: Server) -> None:
        members = AccountRequests(server.operators.cookies, server.layout)
        stored = Requests(server.storage.tables, (form.kind,))
        server.add(APPS, app.bound(MemberRequests(members, stored, server.now, path, form, server)))

    return WebPart(serve=serve, extension=Extension(name, package, account_tabs=((path, f"{form.texts}.own"),)))

"""Pages of resources: the list with the form that adds a record, a record with its actions, and new secrets."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from hashlib import blake2b
from typing import Any
from urllib.parse import unquote

from attrs import evolve, frozen
from twisted.python.failure import Failure

from ..domain.errors import BadInput, DirectoryError, NotFound
from ..domain.keys import NewSecret
from ..domain.ports.requests import MAIL
from ..http import Request
from ..resource import MAX_ROWS, Action, Asked, Done, Facts, Field, Parts, Resource, field_of
from ..serialization import encode
from ..tables import Storage
from ..web.account import Member, local_path, shown_once
from ..web.audit import changing
from ..web.error_responses import error_response, note_error
from ..web.forms import parameters
from ..web.operator_requests import NOTICES, PER_PAGE, Notice, OperatorRequests, ReadNotice, next_url, page_of
from ..web.routes import APPS, App
from .parts import WebPart
from .server import Server


@frozen
class ResourcePages:
    """Handles the pages of a resource. A form with an error is shown again in the response, with all that was sent."""

    _requests: OperatorRequests
    resource: Resource
    _server: Server

    async def get(self, request: Request) -> bytes:
        """Return the list of records."""
        return await self._list(request, await self._requests.member(request))

    async def post(self, request: Request) -> bytes:
        """Add a record, and go to its page or to that of its secret."""
        member, sent = await self._requests.member_form(request)
        adding = self.resource.add
        assert adding is not None
        parts = self._parts(request, member)
        try:
            done = await adding.run(parts, **adding.read(sent)) or Done()
            if request.audit is not None:
                request.audit.set_values({}, await self._facts(parts, done.id))
        except DirectoryError as error:
            shown = form_error(request, adding.fields, sent, error)
            return await self._list(request, member, shown, shown["status"])
        return await self._follow(request, member, done, adding, done.id)

    async def get_one(self, request: Request, record_id: str) -> bytes:
        """Return the page of a record. Raises NotFound."""
        return await self._record(request, await self._requests.member(request), record_id)

    async def confirm(self, action: Action, request: Request, record_id: str) -> bytes:
        """Return the page that asks to confirm an action; for others, redirect to the page of the record."""
        member = await self._requests.member(request)
        if not action.confirms or action.fields:
            return self._requests.redirect(request, self.resource.path_of(unquote(record_id)))
        record = await self._facts(self._parts(request, member), record_id)
        values = {"resource": self.resource, "record": record, "action": action}
        return self._requests.page(request, member.session, "confirm", values)

    async def act(self, action: Action, request: Request, record_id: str) -> bytes:
        """Run an action, and go to the page of the record, of its secret, or to the list."""
        member, sent = await self._requests.member_form(request)
        parts = self._parts(request, member)
        try:
            facts = await self._facts(parts, record_id)
            if sent.get(SHOWN, "") not in ("", _shown_digest(action, parts, facts)):
                raise BadInput(
                    "The values have changed since the page was loaded. Send the form again to replace them.",
                    code="changed_meanwhile",
                )
            async with changing(request, lambda: self._audited(parts, record_id)):
                done = await action.run(parts, facts["id"], **action.read(sent)) or Done()
        except DirectoryError as error:
            if not await self._audited(parts, record_id):
                return self._requests.form_error(request, self.resource.path)
            shown = {**form_error(request, action.fields, sent, error), "failed": action.name}
            return await self._record(request, member, record_id, shown, shown["status"])
        if "next" in sent:
            self._server.bus.announce()
            return self._requests.redirect(request, local_path(sent["next"], self.resource.path), action.name)
        return await self._follow(request, member, done, action, "" if action.ends else facts["id"])

    async def secret(self, request: Request, record_id: str) -> bytes:
        """Return the new secret of a record once, to the session that made it; else a page with status 410."""
        member = await self._requests.member(request)
        record = await self._facts(self._parts(request, member), record_id)
        new, status = await shown_once(
            request, member, self._server.storage.people.new_secrets, self._subject(record["id"])
        )
        values = {"resource": self.resource, "record": record, "secret": new and new.secret}
        return self._requests.page(request, member.session, "secret", values, status)

    async def _follow(self, request: Request, member: Member, done: Done, action: Action, record_id: str) -> bytes:
        """Return the redirect to the page after an action."""
        self._server.bus.announce()
        path = self.resource.path_of(record_id) if record_id else self.resource.path
        if not done.secret:
            return self._requests.redirect(request, path, done.notice or action.name)
        new = NewSecret(done.secret, rotated=False)
        await self._server.storage.people.new_secrets.put(member.session.identifier, self._subject(record_id), new)
        return self._requests.redirect(request, f"{path}/secret")

    async def _list(
        self, request: Request, member: Member, shown: Mapping[str, Any] | None = None, status: int = 200
    ) -> bytes:
        resource, parts, query = self.resource, self._parts(request, member), parameters(request)
        state = query.get("state", "") if query.get("state") in resource.states else ""
        asked = Asked(PER_PAGE + 1, query.get("q", ""), state, query.get("after", ""))
        facts = [resource.facts(parts, record) for record in await resource.list(parts, asked)]
        is_paged = resource.searches or resource.has_pages
        rows = page_of(facts) if is_paged else facts
        values = {
            **(shown or NOTHING_SENT),
            "resource": resource,
            "asked": asked,
            "note": resource.note(parts),
            "rows": rows,
            "choices": await _choices(parts, resource.add.fields if resource.add else ()),
            "next_url": next_url(resource.path, facts, rows[-1]["id"], q=asked.text, state=state)
            if is_paged and rows
            else "",
        }
        return self._requests.page(request, member.session, "records", values, status)

    async def _record(
        self,
        request: Request,
        member: Member,
        record_id: str,
        shown: Mapping[str, Any] | None = None,
        status: int = 200,
    ) -> bytes:
        resource, parts = self.resource, self._parts(request, member)
        record = await self._found(parts, record_id)
        facts = resource.facts(parts, record)
        actions = [action for action in resource.shown_actions if action.allows(parts, facts)]
        values = {
            **(shown or NOTHING_SENT),
            **(await resource.extra(self._server, record) if resource.extra else {}),
            "resource": resource,
            "record": facts,
            "actions": actions,
            "rows": {action.name: await action.rows(parts, facts["id"]) for action in actions if action.rows},
            "most": MAX_ROWS,
            "forms": {action.name: action.values(parts, facts) for action in actions},
            "digests": {action.name: _shown_digest(action, parts, facts) for action in actions},
            "choices": await _choices(parts, [field for action in actions for field in action.fields]),
            "log": await resource.log(parts, facts["id"], resource.longest_log) if resource.log else (),
        }
        return self._requests.page(request, member.session, "record", values, status)

    def _parts(self, request: Request, member: Member) -> Parts:
        server = self._server
        url = self._requests.base_url(request)
        mail = server.get(MAIL)
        return Parts(server.config, server.storage, server.reactor, server.now, lambda: url, member.account, mail)

    async def _found(self, parts: Parts, record_id: str) -> Any:
        return await self.resource.find(parts, unquote(record_id, errors="replace"))

    async def _facts(self, parts: Parts, record_id: str) -> Facts:
        return self.resource.facts(parts, await self._found(parts, record_id))

    async def _audited(self, parts: Parts, record_id: str) -> Facts:
        """Return the facts of a record for the audit log, none if there is no record."""
        try:
            return await self._facts(parts, record_id)
        except NotFound:
            return {}

    def _subject(self, record_id: str) -> str:
        """Return the name of a record among new secrets."""
        return f"{self.resource.name}/{record_id}"


SHOWN = "shown"
"""The field of a form with the digest of the values that it had."""

NOTHING_SENT: Mapping[str, Any] = {"message": "", "about": "", "wrong": "", "failed": "", "values": {}}
"""What a page of a form shows of an error if there is none."""


def form_error(
    request: Request, fields: Sequence[Field], sent: Mapping[str, str], error: DirectoryError
) -> Mapping[str, Any]:
    """Return what the page of a form shows of the exception that is being handled."""
    response = error_response(Failure())
    note_error(request, response.code)
    return {
        "notice": "",
        "error": response.code,
        "about": error.about,
        "retry_after": int(response.headers.get("Retry-After", 0)),
        "status": response.status,
        "message": error.message,
        "wrong": field_of(error, fields),
        "values": sent,
    }


def _shown_digest(action: Action, parts: Parts, facts: Facts) -> str:
    """Return a digest of the values in the form of an action; empty if it shows none.

    A form that is sent has that of its page, so that of two operators neither replaces what she has not seen.
    """
    values = action.values(parts, facts)
    shown = [str(values.get(field.name, "")) for field in action.fields]
    return blake2b(encode(shown), digest_size=8).hexdigest() if values else ""


async def _choices(parts: Parts, fields: Sequence[Field]) -> Mapping[str, Collection[str]]:
    """Return the choices of fields that read them."""
    return {field.name: await field.choose(parts) for field in fields if field.choose is not None}


def with_resources(part: WebPart, resources: Sequence[Resource]) -> WebPart:
    """Return a part of the web server with the pages of `resources`."""
    shown = [resource for resource in resources if resource.is_shown]
    if not shown:
        return part
    apps = [*map(_app, shown)]
    tabs = ((resource.group, resource.path, f"{resource.texts}.tab") for resource in shown)

    def serve(server: Server) -> None:
        part.serve(server)
        requests = server.operators.of_folder("admin")
        server.add(
            APPS,
            *(app.bound(ResourcePages(requests, of, server)) for app, of in zip(apps, shown, strict=True)),
        )
        server.add(NOTICES, *(_notice(resource) for resource in shown if resource.waiting))

    return evolve(part, tabs=(*tabs, *part.tabs), serve=serve)


def _app(resource: Resource) -> App:
    """Return the application of a resource; each action has a path of its own, which the audit log names."""
    app, one = App(), f"{resource.path}/{{record_id}}"
    app.get(resource.path)(ResourcePages.get)
    app.get(one)(ResourcePages.get_one)
    if resource.add and resource.add.place != "command":
        app.post(resource.path)(ResourcePages.post)
    for action in resource.shown_actions:
        app.get(f"{one}/{action.name}")(_of_action(ResourcePages.confirm, action))
        app.post(f"{one}/{action.name}")(_of_action(ResourcePages.act, action))
    if resource.has_secret:
        app.get(f"{one}/secret")(ResourcePages.secret)
    return app


def _of_action(handler: Callable[..., Awaitable[bytes]], action: Action) -> Callable[..., Awaitable[bytes]]:
    async def handle(pages: ResourcePages, request: Request, record_id: str) -> bytes:
        return await handler(pages, action, request, record_id)

    return handle


def _notice(resource: Resource) -> ReadNotice:
    async def read(storage: Storage) -> Notice | None:
        assert resource.waiting is not None
        count = await resource.waiting(storage)
        return Notice(resource.path, f"{resource.texts}.waiting", count) if count else None

    return read

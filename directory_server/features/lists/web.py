"""The web part of lists: handlers and tabs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from attrs import frozen

from ...domain.accounts import Account
from ...domain.entries import Entry, check_name, mcp_id_of
from ...domain.errors import BadInput, DirectoryError
from ...domain.ports.requests import MAIL
from ...domain.requests import MAX_TEXT, EventKind, unknown_request
from ...domain.requests import Request as Asked
from ...domain.scopes import NOTHING, Scope, unknown_list
from ...domain.throttling import AttemptLimit
from ...feature.parts import WebPart
from ...feature.server import Server
from ...http import Request
from ...request_resource import email_of
from ...tables import Storage
from ...web.account import AccountRequests, Next, Sent, form, page
from ...web.audit import Values, changing
from ...web.operator_requests import NOTICES, Notice
from ...web.pages import ENTRY_BARS, RESULT_PARTS, EntryBar
from ...web.routes import APPS, App
from .approvers import Approvers
from .keeper import REQUESTS, RequestMails
from .pages import OWN, ListBar, NeedsApproval, OwnLists, Stored
from .requests import LISTING, MAX_DIFFERENCES, VERSION, ListRequests, approval_of, differences
from .scopes import ReaderScopes
from .settings import ListsConfig
from .tables import Lists

MAX_OWN, MAX_WAITING = 50, 100
"""Requests of a member, and requests that wait for an approver, on a page."""

_BY_ACCOUNT = AttemptLimit("list request", rate=20 / 86_400.0, burst=20)

_OF_MEMBER: Mapping[str, EventKind] = {"answer": "answer", "withdraw": "withdrawn"}

_OF_APPROVER: Mapping[str, EventKind] = {"approve": "approved", "question": "question", "decline": "declined"}


MAX_COMPARED, MAX_NAMED = 20, 4
"""New versions of which the list of requests names what has changed, and the fields that it names."""


@frozen
class Waiting:
    """A request that waits: the entry if there is one, who wants it and why, and what differs from the approved one."""

    asked: Asked
    entry: Entry | None
    email: str
    text: str
    changed: Sequence[str]


@frozen
class RequestPages:
    """Handles `/account/requests`. While lists are off there are no requests.

    The directory of the kernel has all entries: an approver reads those that are asked for, whatever lists she sees.
    """

    app = App()

    _requests: AccountRequests
    _server: Server
    _stored: Stored
    _mails: RequestMails

    @app.get(REQUESTS)
    @page("requests")
    async def get(self, sent: Sent) -> Mapping[str, Any]:
        """Return the requests of the member, those that wait for her as an approver, and the form that adds one."""
        account = sent.member.account
        return {
            "is_on": self._stored.scopes is not None,
            "own": await self._stored.requests.of_account(account.id, MAX_OWN),
            "waiting": await self._waiting(account),
            "lists": await self._stored.requestable(account),
            "titles": await self._stored.titles(),
            "longest": MAX_TEXT,
            "entry": sent.fields.get("entry", ""),
            "list": sent.fields.get("list", ""),
            "reason": "",
        }

    @app.post(REQUESTS)
    @form(REQUESTS, "entry", "list", "reason")
    async def post(self, sent: Sent) -> Next:
        account, name, list_name = sent.member.account, sent.text("entry"), sent.fields.get("list", "")
        if all(entry_list.name != list_name for entry_list in await self._stored.requestable(account)):
            raise unknown_list(list_name)
        check_name(name)
        if await self._entry(name, within=frozenset({list_name})) is not None:
            raise BadInput("entry: is on this list.", code="listed")
        # An invalid request does not count.
        await self._server.storage.people.attempts.charge(_BY_ACCOUNT, account.id)
        made, reason = Asked(LISTING.name, name, list_name, account.id), sent.fields.get("reason", "")
        added = await self._stored.requests.add(made, reason, self._server.now(), "reason")
        await self._mails.tell_approvers([await self._stored.requests.find(added)])
        return Next(REQUESTS, "requested")

    @app.get(f"{REQUESTS}/{{request_id}}")
    @page("request")
    async def get_one(self, sent: Sent, request_id: str) -> Mapping[str, Any]:
        """Return the page of a request: for its member, and for approvers with the entry and its differences."""
        account = sent.member.account
        asked, is_approver = await self._find(account, request_id)
        return {
            "asked": asked,
            "events": await self._stored.requests.events(asked.id),
            "is_approver": is_approver,
            "is_own": asked.account == account.id,
            "titles": await self._stored.titles(),
            "longest": MAX_TEXT,
            "reason": "",
            **(await self._reviewed(asked) if is_approver else await self._seen(asked, account)),
        }

    @app.post(f"{REQUESTS}/{{request_id}}/{{action}}")
    async def change(self, request: Request, request_id: str, action: str) -> bytes:
        """Decide on a request, ask the member, answer an approver, or withdraw; redirect to the page of the request."""
        member, form = await self._requests.member_form(request)
        account, text, path = member.account, form.get("text", ""), REQUESTS
        try:
            asked, is_approver = await self._find(account, request_id)
            is_own = asked.account == account.id
            # Of a new version that waits others want a decision as well.
            is_members = action in _OF_MEMBER and is_own and not (asked.kind == VERSION.name and action == "withdraw")
            if not is_members and not (action in _OF_APPROVER and is_approver):
                raise unknown_request()
            path = f"{REQUESTS}/{asked.id}"
            async with changing(request, lambda: self._state(asked.id)):
                if is_members:
                    answered = await self._record(asked, _OF_MEMBER[action], account, text)
                    if answered.is_open:
                        await self._mails.tell_approvers([answered])
                elif is_own:
                    raise BadInput("Another approver decides on your request.", code="own_request")
                else:
                    await self._mails.tell_members(await self._decide(asked, action, form, account))
        except DirectoryError:
            return self._requests.form_error(request, path, reason=text)
        self._server.bus.announce()
        return self._requests.redirect(request, path, action)

    async def _waiting(self, account: Account) -> Sequence[Waiting]:
        """Return the requests that wait for an approver."""
        waiting = await self._stored.requests.waiting(sorted(await self._deciding(account)), MAX_WAITING)
        texts = await self._stored.requests.texts(waiting)
        ids = [mcp_id_of(asked.subject) for asked in waiting]
        entries = {entry.name: entry for entry in await self._server.directory.store.entries(ids)}
        of_accounts = {asked.account: asked for asked in waiting}
        emails = {account: await email_of(self._server.storage, asked) for account, asked in of_accounts.items()}
        rows = []
        for number, asked in enumerate(waiting):
            entry = entries.get(asked.subject)
            is_compared = entry is not None and asked.kind == VERSION.name and number < MAX_COMPARED
            approved = await self._stored.requests.approval(asked.place, asked.subject) if is_compared else None
            changed = differences(approved.document, entry)[:MAX_NAMED] if approved and entry else []
            paths = [difference.path for difference in changed]
            rows.append(Waiting(asked, entry, emails[asked.account], texts.get(asked.id, ""), paths))
        return rows

    async def _record(self, asked: Asked, event: EventKind, account: Account, text: str) -> Asked:
        return await self._stored.requests.record(asked.id, event, account.id, text, self._server.now())

    async def _decide(self, asked: Asked, action: str, form: Mapping[str, str], approver: Account) -> Sequence[Asked]:
        """Do what an approver wants, and return the changed requests. Raises BadInput, NotFound."""
        text = form.get("text", "")
        if action != "approve":
            return [await self._record(asked, _OF_APPROVER[action], approver, text)]
        entry = await self._entry(asked.subject, within=None)
        if entry is None:
            raise BadInput("This directory has no such entry.", code="entry_unknown")
        approval = approval_of(entry, self._server.now())
        if approval.digest != form.get("digest", ""):
            raise BadInput("The entry has changed since this page was loaded.", code="entry_changed")
        if (await self._stored.lists.find(asked.place)).is_all:
            raise BadInput("The list has all entries.", code="listed")
        return await self._stored.requests.approve(asked.id, approval, approver.id, text)

    async def _find(self, account: Account, request_id: str) -> tuple[Asked, bool]:
        """Return a request, and whether an account may read it as an approver does. Raises NotFound."""
        asked = await self._stored.requests.find(request_id)
        is_approver = asked.place in await self._deciding(account)
        if asked.account != account.id and not is_approver:
            raise unknown_request()
        return asked, is_approver

    async def _deciding(self, account: Account) -> Collection[str]:
        """Return the names of the lists whose requests an account reads: as an approver, an operator or an auditor."""
        if self._stored.scopes is None:
            return ()
        if account.sees_all:
            return [entry_list.name for entry_list in await self._stored.lists.all()]
        return await self._stored.scopes.decided_by(account.id)

    async def _entry(self, name: str, *, within: Scope) -> Entry | None:
        return await self._server.directory.within(within).store.entry(mcp_id_of(name))

    async def _seen(self, asked: Asked, account: Account) -> Mapping[str, Any]:
        """Return what a member sees of the entry: nothing if it is outside of her scope."""
        scope = NOTHING if self._stored.scopes is None else await self._stored.scopes.of(account.id)
        entry = await self._entry(asked.subject, within=scope)
        return {"entry_id": "" if entry is None else entry.mcp_id, "entry": None}

    async def _reviewed(self, asked: Asked) -> Mapping[str, Any]:
        """Return what an approver sees of the entry: its checks, marks, and what differs from the approved document."""
        entry, approved = (
            await self._entry(asked.subject, within=None),
            await self._stored.requests.approval(asked.place, asked.subject),
        )
        values = {"email": await email_of(self._server.storage, asked), "approved": approved, "entry_id": ""}
        if entry is None:
            return {**values, "entry": None}
        changed = [] if approved is None else differences(approved.document, entry)
        return {
            **values,
            "entry": await self._server.directory.detail_of(entry),
            "digest": approval_of(entry, self._server.now()).digest,
            "now": self._server.now(),
            "differences": changed[:MAX_DIFFERENCES],
            "has_more": len(changed) > MAX_DIFFERENCES,
        }

    async def _state(self, request_id: str) -> Values:
        """Return the values of a request for the audit log."""
        asked = await self._stored.requests.find(request_id)
        return {"list": asked.place, "entry": asked.subject, "state": asked.state}


NAME = "lists"


def _serve(server: Server) -> None:
    is_on, storage = server.config.of(ListsConfig).enabled, server.storage
    scopes = ReaderScopes(storage.tables, server.now) if is_on else None
    stored = Stored(Lists(storage.tables), Approvers(storage.tables, storage), ListRequests(storage.tables), scopes)
    members = AccountRequests(server.operators.cookies, server.layout, NAME)
    mails = RequestMails(storage, stored.approvers, server.get(MAIL))
    server.add(
        APPS,
        OwnLists(members, stored).app,
        RequestPages(members, server, stored, mails).app,
    )
    server.add(ENTRY_BARS, EntryBar(f"{NAME}/entry.html", ListBar(stored, server.operators.cookies).read))
    if server.config.of(ListsConfig).catalogue:
        server.add(RESULT_PARTS, EntryBar(f"{NAME}/outside.html", NeedsApproval(stored, server).read))
    server.add(NOTICES, _open_requests)


async def _open_requests(storage: Storage) -> Notice | None:
    count = await ListRequests(storage.tables).count()
    return Notice(REQUESTS, f"{NAME}.open_requests", count) if count else None


PART = WebPart(
    account_tabs=((OWN, f"{NAME}.tab"), (REQUESTS, f"{NAME}.requests")),
    serve=_serve,
)

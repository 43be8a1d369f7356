"""The resource of a kind of requests on which operators decide: pages, command, history, questions and answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

from attrs import frozen

from .domain.accounts import Account
from .domain.requests import MAX_EVENTS, MAX_TEXT, EventKind, Kind, Request
from .resource import Action, Asked, Done, Facts, Field, Parts, Resource
from .tables import Requests, Storage

Check = Callable[..., Facts]
"""Returns the details of a decision for the parts, the request and the values of its fields. Raises BadInput."""

Apply = Callable[[Parts, Request], Coroutine[Any, Any, None]]
"""Does what a decision means, after it is stored with its details."""

_TEXT = Field("text", "A text for the person.", "long", MAX_TEXT)

_SUBJECTS: Mapping[EventKind, str] = {
    "question": "There is a question about your {}",
    "approved": "Your {} was approved",
    "declined": "Your {} was declined",
    "closed": "Your {} was closed",
}

_DONE: Mapping[EventKind, str] = {
    "question": "is asked",
    "approved": "is approved",
    "declined": "is declined",
    "closed": "is closed",
}


@frozen
class Listed:
    """A request with its first text, and the e-mail address of its account, empty without one."""

    request: Request
    text: str
    email: str = ""


@frozen
class RequestForm:
    """The page of members of a kind, at the `page` of the kind.

    `new` returns a request for the account and the values of `fields`, or raises BadInput; the text is a field of all.
    `template` is a part of the page, with what `extra` returns for the `Server` and a member.
    """

    new: Callable[..., Request]
    fields: tuple[Field, ...] = ()
    template: str = ""
    extra: Callable[[Any, Account], Awaitable[Mapping[str, Any]]] | None = None


@frozen(kw_only=True)
class RequestResource(Resource):
    """The resource of a `kind` of requests. With a `form` members have a page for theirs."""

    kind: Kind
    form: RequestForm | None = None

    @property
    def form_fields(self) -> tuple[Field, ...]:
        """The fields of the form of members."""
        text = Field("text", "", "long", self.kind.longest, is_required=self.kind.needs_text)
        return (*(self.form.fields if self.form else ()), text)


def request_resource(
    kind: Kind,
    command: str,
    *,
    group: Literal["access", "entries"],
    columns: tuple[str, ...],
    decisions: Sequence[Action],
    links: Mapping[str, str] = MappingProxyType({}),
    texts: str = "",
    facts: Callable[[Parts, Request], Facts] = lambda parts, request: request.details,
    form: RequestForm | None = None,
) -> RequestResource:
    """Return the resource of a kind, with the name, noun and by default the prefix of texts of its `command`.

    `facts` are what it shows of a request beside those of all kinds. Operators can decline and ask beside `decisions`
    if the kind is `of_accounts`.
    """
    given = {action.name for action in decisions}
    usual = _usual_decisions(kind) if kind.of_accounts else ()

    def stored(parts: Parts) -> Requests:
        return Requests(parts.storage.tables, (kind,))

    async def listed(parts: Parts, requests: Sequence[Request]) -> Sequence[Listed]:
        texts = await stored(parts).texts(requests)
        return [
            Listed(request, texts.get(request.id, ""), await email_of(parts.storage, request)) for request in requests
        ]

    async def list_(parts: Parts, asked: Asked) -> Sequence[Listed]:
        is_open = asked.state != "decided"
        return await listed(parts, await stored(parts).list(is_open=is_open, after=asked.after, limit=asked.limit))

    async def find(parts: Parts, request_id: str) -> Listed:
        return (await listed(parts, [await stored(parts).find(request_id)]))[0]

    def facts_of(parts: Parts, record: Listed) -> Facts:
        request = record.request
        of_account = {"email": record.email} if kind.of_accounts else {}
        return {
            "id": request.id,
            **of_account,
            **facts(parts, request),
            "text": record.text,
            "state": request.state,
            "created_at": request.created_at,
            "updated_at": request.updated_at,
        }

    async def history(parts: Parts, request_id: str, limit: int) -> Sequence[Facts]:
        events = (await stored(parts).events(request_id))[-limit:]
        return [{"happened_at": event.at, "event": event.kind, "text": event.text} for event in events]

    return RequestResource(
        name=f"{command}s",
        command=command,
        noun=command.replace("-", " "),
        group=group,
        texts=texts or f"{command}s".replace("-", "_"),
        list=list_,
        find=find,
        facts=facts_of,
        columns=columns,
        links={**({"email": "/admin/accounts/{email}"} if kind.of_accounts else {}), **links},
        states=("decided",),
        has_pages=True,
        actions=(*decisions, *(action for action in usual if action.name not in given)),
        log=history,
        logged=("happened_at", "event", "text"),
        longest_log=MAX_EVENTS + 2,
        waiting=lambda storage: Requests(storage.tables, (kind,)).count(),
        kind=kind,
        form=form,
    )


def _usual_decisions(kind: Kind) -> Sequence[Action]:
    return (
        decision(kind, "decline", "Decline a request.", "declined"),
        decision(kind, "ask", "Ask the person a question.", "question"),
    )


async def email_of(storage: Storage, request: Request) -> str:
    """Return the e-mail address of the account of a request, empty without one."""
    listed = await storage.people.roster.account(request.account) if request.account else None
    return "" if listed is None else listed.account.email


def decision(
    kind: Kind,
    name: str,
    help_: str,
    event: EventKind,
    *fields: Field,
    check: Check = lambda parts, request: {},
    apply: Apply | None = None,
    stored: type[Requests] = Requests,
    with_text: bool = True,
    values: Callable[[Parts, Facts], Mapping[str, str]] = lambda parts, facts: {},
) -> Action:
    """Return the action of operators that adds an event to a request, as `stored` does, and then calls `apply`."""

    async def run(parts: Parts, request_id: str, **values: Any) -> Done | None:
        requests = stored(parts.storage.tables, (kind,))
        text, account = values.pop("text", ""), parts.account.id if parts.account else None
        details = check(parts, await requests.find(request_id), **values)
        # First, so that of two operators one decides.
        decided = await requests.record(request_id, event, account, text, parts.now(), details)
        if apply is not None:
            await apply(parts, decided)
        listed = await parts.storage.people.roster.account(decided.account) if parts.mail and decided.account else None
        if parts.mail and listed and listed.account.disabled_at is None:
            parts.mail(listed.account.email, _SUBJECTS[event].format(kind.noun), kind.page)
        return None

    return Action(
        name,
        help_,
        run,
        fields=(*fields, _TEXT) if with_text else fields,
        done=_DONE[event],
        of_many=not fields and not with_text,
        values=values,
        allows=lambda parts, facts: facts["state"] in (("open",) if event == "question" else ("open", "asked")),
    )

"""Requests for entries on lists, in the tables of the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen

from ...domain.entries import check_name, is_storable, mcp_id_of
from ...domain.errors import BadInput
from ...domain.keys import new_id
from ...tables import Rows, Tables, held_documents, transaction
from .requests import (
    MAX_ALL_OPEN,
    MAX_EVENTS,
    MAX_OPEN,
    Approval,
    EventKind,
    ListRequest,
    RequestEvent,
    State,
    checked_text,
    decided,
    unknown_request,
)
from .tables import pick_entry, write_lists

# Writers wait for each other, so that together they do not exceed a limit, and of two decisions the first counts.
_LOCK = "LOCK TABLE list_request IN SHARE ROW EXCLUSIVE MODE"

_IS_OPEN = "state IN ('open', 'asked')"

_COUNT = f"SELECT count(*) FROM list_request WHERE {_IS_OPEN}"

_COUNT_STATES = "SELECT state, count(*) FROM list_request GROUP BY state"

_COUNT_OWN = f"{_COUNT} AND account = :account"

_FIELDS = "SELECT id, list, name, account, waits_for, state, created_at, updated_at FROM list_request"

_FIND = f"{_FIELDS} WHERE id = :id"

_OWN = f"{_FIELDS} WHERE account = :account ORDER BY updated_at DESC, id LIMIT :limit"

_WAITING = f"{_FIELDS} WHERE {_IS_OPEN} AND list = ANY(:lists) ORDER BY state DESC, created_at, id LIMIT :limit"

_SAME = f"{_FIELDS} WHERE list = :list AND name = :name AND {_IS_OPEN}"

_LAST = f"{_FIELDS} WHERE name = :name AND list = ANY(:lists) AND state <> 'withdrawn' ORDER BY updated_at, id"

_VERSIONS = f"{_FIELDS} WHERE list = :list AND name = :name AND waits_for <> '' ORDER BY updated_at"

_ADD = """
    INSERT INTO list_request (id, list, name, account, waits_for, state, created_at, updated_at)
    VALUES (:id, :list, :name, :account, :waits_for, 'open', :at, :at)
"""

_SET = "UPDATE list_request SET state = :state, updated_at = :at WHERE id = :id"

_WAIT = "UPDATE list_request SET waits_for = :waits_for WHERE id = :id"

_EVENTS = "SELECT at, kind, account, text FROM list_request_event WHERE request = :id ORDER BY number"

_COUNT_EVENTS = "SELECT count(*) FROM list_request_event WHERE request = :id"

_ADD_EVENT = """
    INSERT INTO list_request_event (request, number, at, kind, account, text)
    VALUES (:id, (SELECT count(*) FROM list_request_event WHERE request = :id), :at, :kind, :account, :text)
"""

_APPROVAL = "SELECT version, digest, document, approved_at FROM list_approval WHERE list = :list AND name = :name"

_APPROVE = """
    INSERT INTO list_approval (list, name, version, digest, document, approved_at, account)
    VALUES (:list, :name, :version, :digest, :document, :at, :account)
    ON CONFLICT (list, name) DO UPDATE SET version = excluded.version, digest = excluded.digest,
        document = excluded.document, approved_at = excluded.approved_at, account = excluded.account
"""

_APPROVED_FOR = "SELECT account FROM list_approval WHERE list = :list AND name = :name"

_IS_LISTED = "SELECT 1 FROM list_entry WHERE mcp_id = :mcp_id AND list = :list AND left_at IS NULL"

_HAS_ACCOUNT = "SELECT 1 FROM account WHERE id = :id"

_LISTED = "SELECT list FROM list_entry WHERE mcp_id = :mcp_id AND left_at IS NULL AND list = ANY(:lists)"

# A version that waits keeps its request: without it nobody would decide.
_OLD = f"{_FIELDS} WHERE {_IS_OPEN} AND waits_for = '' AND updated_at < :before LIMIT 500"

_FORGET = f"""
    DELETE FROM list_request WHERE (account IS NULL AND waits_for = '') OR (NOT {_IS_OPEN} AND updated_at < :before)
"""


@frozen
class ListRequests:
    """The requests of all members. All methods raise Unavailable. Times are seconds since the epoch."""

    _tables: Tables

    @transaction
    def add(self, rows: Rows, account: str, list_name: str, name: str, reason: str, now: float) -> str:
        """Store a request of an account and return its id.

        Raises BadInput for a wrong name or reason, for a second open request, and for too many.
        """
        check_name(name)
        text = checked_text("reason", reason)
        rows.lock(_LOCK)
        if any(row[3] == account for row in rows.all(_SAME, list=list_name, name=name)):
            raise BadInput("entry: you have an open request for this entry on this list.", code="request_exists")
        if rows.one(_COUNT_OWN, account=account)[0] >= MAX_OPEN:
            raise BadInput(f"An account has at most {MAX_OPEN} open requests.", code="requests_own")
        if rows.one(_COUNT)[0] >= MAX_ALL_OPEN:
            raise BadInput("Too many requests wait for approvers.", code="requests_full")
        return _add(rows, list_name, name, account, "", now, "requested", text)

    async def find(self, request_id: str) -> ListRequest:
        """Return a request. Raises NotFound."""
        row = await self._tables.one(_FIND, id=request_id) if is_storable(request_id) else None
        if row is None:
            raise unknown_request()
        return ListRequest(*row)

    async def events(self, request_id: str) -> Sequence[RequestEvent]:
        """Return the events of a request, the oldest first."""
        return [RequestEvent(*row) for row in await self._tables.all(_EVENTS, id=request_id)]

    async def of_account(self, account: str, limit: int) -> Sequence[ListRequest]:
        """Return the last changed requests of an account."""
        return [ListRequest(*row) for row in await self._tables.all(_OWN, account=account, limit=limit)]

    async def waiting(self, lists: Sequence[str], limit: int) -> Sequence[ListRequest]:
        """Return the open requests for lists: those that wait for an approver first, the oldest first."""
        return [ListRequest(*row) for row in await self._tables.all(_WAITING, lists=list(lists), limit=limit)]

    async def count(self) -> int:
        """Return the number of open requests."""
        return int((await self._tables.one(_COUNT))[0])

    async def count_states(self) -> Mapping[State, int]:
        """Return the numbers of stored requests by their states."""
        return dict(await self._tables.all(_COUNT_STATES))

    async def states(self, name: str, lists: Sequence[str]) -> Mapping[str, ListRequest]:
        """Return the last request for an entry on each of `lists`."""
        if not is_storable(name):
            return {}
        return {row[1]: ListRequest(*row) for row in await self._tables.all(_LAST, name=name, lists=list(lists))}

    async def listed(self, name: str, lists: Sequence[str]) -> frozenset[str]:
        """Return those of `lists` that have the entry `name`."""
        rows = await self._tables.all(_LISTED, mcp_id=mcp_id_of(name), lists=list(lists))
        return frozenset(found for (found,) in rows)

    async def approval(self, list_name: str, name: str) -> Approval | None:
        """Return what was approved last of an entry for a list, None if nothing was."""
        row = await self._tables.one(_APPROVAL, list=list_name, name=name)
        return None if row is None else Approval(row[0], row[1], bytes(row[2]), row[3])

    @transaction
    def answer(self, rows: Rows, request_id: str, kind: EventKind, account: str, text: str, now: float) -> ListRequest:
        """Add a `question` of an approver, an `answer` or the withdrawal of the member, or decline.

        Return the changed request. Raises NotFound, and BadInput for a wrong text and if the request is not in a state
        for it.
        """
        states: Mapping[EventKind, tuple[tuple[State, ...], State]] = {
            "question": (("open",), "asked"),
            "answer": (("asked",), "open"),
            "declined": (("open", "asked"), "declined"),
            "withdrawn": (("open", "asked"), "withdrawn"),
        }
        before, after = states[kind]
        cleaned = checked_text("text", text, is_required=kind in ("question", "answer"))
        request = _open(rows, request_id)
        if request.state not in before:
            raise decided()
        is_talk = kind in ("question", "answer")
        if is_talk and rows.one(_COUNT_EVENTS, id=request.id)[0] >= MAX_EVENTS:
            raise BadInput("This request has too many questions. Decide on it.", code="events_full")
        return _record(rows, request, after, kind, account, cleaned, now)

    @transaction
    def approve(self, rows: Rows, request_id: str, approval: Approval, approver: str, text: str) -> list[ListRequest]:
        """Approve an entry, which joins its list, and all open requests for it; return these.

        Raises NotFound, and BadInput if the request was decided, the entry has changed since, or too many entries were
        picked for the list.
        """
        cleaned, now = checked_text("text", text, is_required=False), approval.approved_at
        request = _open(rows, request_id)
        rows.execute(
            _APPROVE,
            list=request.list,
            name=request.name,
            version=approval.version,
            digest=approval.digest,
            document=approval.document,
            at=now,
            account=request.account,
        )
        pick_entry(rows, request.list, request.name)
        if request.list in [list_name for _, list_name, _ in held_documents(rows, [mcp_id_of(request.name)])]:
            raise BadInput("The entry has changed since this page was loaded.", code="entry_changed")
        return [
            _record(rows, ListRequest(*row), "approved", "approved", approver, cleaned, now)
            for row in rows.all(_SAME, list=request.list, name=request.name)
        ]

    @transaction
    def wait(self, rows: Rows, mcp_ids: Sequence[str], now: float) -> list[ListRequest]:
        """Make and return requests for the documents of entries that wait.

        A document that was declined makes no second one.
        """
        rows.lock(_LOCK)
        made = []
        for name, list_name, digest in held_documents(rows, mcp_ids):
            # The list has not held versions before.
            if rows.one(_IS_LISTED, mcp_id=mcp_id_of(name), list=list_name) is not None:
                write_lists(rows, {mcp_id_of(name): ([], [list_name])})
            earlier = [ListRequest(*row) for row in rows.all(_VERSIONS, list=list_name, name=name)]
            waiting = [request for request in earlier if request.is_open]
            if any(request.waits_for == digest for request in waiting or earlier[-1:]):
                continue
            if waiting:
                rows.execute(_WAIT, id=waiting[0].id, waits_for=digest)
                _record(rows, waiting[0], "open", "version", None, "", now)
                continue
            row = rows.one(_APPROVED_FOR, list=list_name, name=name)
            account = row[0] if row and row[0] and rows.one(_HAS_ACCOUNT, id=row[0]) else None
            request_id = _add(rows, list_name, name, account, digest, now, "version", "")
            made.append(ListRequest(*rows.one(_FIND, id=request_id)))
        return made

    @transaction
    def forget(self, rows: Rows, before: float, now: float) -> None:
        """Let open requests expire whose last event is before `before`, and delete decided ones."""
        rows.lock(_LOCK)
        rows.execute(_FORGET, before=before)
        for row in rows.all(_OLD, before=before):
            _record(rows, ListRequest(*row), "expired", "expired", None, "", now)


def _open(rows: Rows, request_id: str) -> ListRequest:
    """Return an open request, which is locked. Raises NotFound, BadInput."""
    rows.lock(_LOCK)
    row = rows.one(_FIND, id=request_id) if is_storable(request_id) else None
    if row is None:
        raise unknown_request()
    request = ListRequest(*row)
    if not request.is_open:
        raise decided()
    return request


def _add(
    rows: Rows, list_name: str, name: str, account: str | None, waits_for: str, at: float, kind: EventKind, text: str
) -> str:
    request_id = new_id()
    rows.execute(_ADD, id=request_id, list=list_name, name=name, account=account, waits_for=waits_for, at=at)
    rows.execute(_ADD_EVENT, id=request_id, at=at, kind=kind, account=account, text=text)
    return request_id


def _record(
    rows: Rows, request: ListRequest, state: State, kind: EventKind, account: str | None, text: str, at: float
) -> ListRequest:
    """Set the state of a request with the event that causes it; return the changed request."""
    rows.execute(_SET, id=request.id, state=state, at=at)
    rows.execute(_ADD_EVENT, id=request.id, at=at, kind=kind, account=account, text=text)
    return ListRequest(*rows.one(_FIND, id=request.id))

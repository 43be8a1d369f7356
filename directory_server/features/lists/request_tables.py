"""Requests for entries on lists, in the tables of the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen

from ...domain.entries import check_name, is_storable, mcp_id_of
from ...domain.errors import BadInput
from ...domain.requests import EventKind, Request, RequestEvent
from ...tables import (
    Requests,
    Rows,
    Tables,
    add_request,
    find_request,
    held_documents,
    lock_requests,
    record_event,
    request_of,
    transaction,
)
from .requests import KINDS, LISTING, VERSION, Approval
from .tables import pick_entry, write_lists

_FIELDS = """
    SELECT kind, subject, place, account, details, state, created_at, updated_at, id FROM request
    WHERE kind IN ('list', 'version')
"""

_IS_OPEN = "state IN ('open', 'asked')"

_WAITING = f"{_FIELDS} AND {_IS_OPEN} AND place = ANY(:lists) ORDER BY state DESC, created_at, id LIMIT :limit"

_SAME = f"{_FIELDS} AND place = :list AND subject = :name AND {_IS_OPEN}"

_LAST = f"{_FIELDS} AND subject = :name AND place = ANY(:lists) AND state <> 'withdrawn' ORDER BY updated_at, id"

_VERSIONS = f"{_FIELDS} AND kind = 'version' AND place = :list AND subject = :name ORDER BY updated_at"

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


@frozen
class ListRequests:
    """The requests of all members. All methods raise Unavailable. Times are seconds since the epoch."""

    _tables: Tables

    @property
    def _stored(self) -> Requests:
        return Requests(self._tables, KINDS)

    async def add(self, account: str, list_name: str, name: str, reason: str, now: float) -> str:
        """Store a request of an account and return its id.

        Raises BadInput for a wrong name or reason, for a second open request, and for too many.
        """
        check_name(name)
        return await self._stored.add(Request(LISTING.name, name, list_name, account), reason, now, "reason")

    async def find(self, request_id: str) -> Request:
        """Return a request. Raises NotFound."""
        return await self._stored.find(request_id)

    async def events(self, request_id: str) -> Sequence[RequestEvent]:
        """Return the events of a request, the oldest first."""
        return await self._stored.events(request_id)

    async def texts(self, requests: Sequence[Request]) -> Mapping[str, str]:
        """Return the first texts of requests by their ids."""
        return await self._stored.texts(requests)

    async def of_account(self, account: str, limit: int) -> Sequence[Request]:
        """Return the last changed requests of an account."""
        return await self._stored.of_account(account, limit)

    async def waiting(self, lists: Sequence[str], limit: int) -> Sequence[Request]:
        """Return the open requests for lists: those that wait for an approver first, the oldest first."""
        return [request_of(row) for row in await self._tables.all(_WAITING, lists=list(lists), limit=limit)]

    async def count(self) -> int:
        """Return the number of open requests."""
        return await self._stored.count()

    async def states(self, name: str, lists: Sequence[str]) -> Mapping[str, Request]:
        """Return the last request for an entry on each of `lists`."""
        if not is_storable(name):
            return {}
        last = [request_of(row) for row in await self._tables.all(_LAST, name=name, lists=list(lists))]
        return {request.place: request for request in last}

    async def listed(self, name: str, lists: Sequence[str]) -> frozenset[str]:
        """Return those of `lists` that have the entry `name`."""
        rows = await self._tables.all(_LISTED, mcp_id=mcp_id_of(name), lists=list(lists))
        return frozenset(found for (found,) in rows)

    async def approval(self, list_name: str, name: str) -> Approval | None:
        """Return what was approved last of an entry for a list, None if nothing was."""
        row = await self._tables.one(_APPROVAL, list=list_name, name=name)
        return None if row is None else Approval(row[0], row[1], bytes(row[2]), row[3])

    async def answer(self, request_id: str, kind: EventKind, account: str, text: str, now: float) -> Request:
        """Add an event other than an approval; return the changed request. Raises BadInput, NotFound."""
        return await self._stored.record(request_id, kind, account, text, now)

    @transaction
    def approve(self, rows: Rows, request_id: str, approval: Approval, approver: str, text: str) -> list[Request]:
        """Approve an entry, which joins its list, and all open requests for it; return these.

        Raises NotFound, and BadInput if the request was decided, the entry has changed since, or too many entries were
        picked for the list.
        """
        lock_requests(rows)
        request = find_request(rows, KINDS, request_id)
        # First, so that of two decisions the first counts.
        approved = [record_event(rows, request, "approved", approver, text, approval.approved_at)]
        rows.execute(
            _APPROVE,
            list=request.place,
            name=request.subject,
            version=approval.version,
            digest=approval.digest,
            document=approval.document,
            at=approval.approved_at,
            account=request.account,
        )
        pick_entry(rows, request.place, request.subject)
        if request.place in [list_name for _, list_name, _ in held_documents(rows, [mcp_id_of(request.subject)])]:
            raise BadInput("The entry has changed since this page was loaded.", code="entry_changed")
        same = [request_of(row) for row in rows.all(_SAME, list=request.place, name=request.subject)]
        return [
            *approved,
            *(record_event(rows, other, "approved", approver, text, approval.approved_at) for other in same),
        ]

    @transaction
    def wait(self, rows: Rows, mcp_ids: Sequence[str], now: float) -> list[Request]:
        """Make and return requests for the documents of entries that wait.

        A document that was declined makes no second one.
        """
        lock_requests(rows)
        made = []
        for name, list_name, digest in held_documents(rows, mcp_ids):
            # The list has not held versions before.
            if rows.one(_IS_LISTED, mcp_id=mcp_id_of(name), list=list_name) is not None:
                write_lists(rows, {mcp_id_of(name): ([], [list_name])})
            earlier = [request_of(row) for row in rows.all(_VERSIONS, list=list_name, name=name)]
            waiting = [request for request in earlier if request.is_open]
            details = {"digest": digest}
            if any(request.details == details for request in waiting or earlier[-1:]):
                continue
            if waiting:
                record_event(rows, waiting[0], "version", None, "", now, details)
                continue
            row = rows.one(_APPROVED_FOR, list=list_name, name=name)
            account = row[0] if row and row[0] and rows.one(_HAS_ACCOUNT, id=row[0]) else None
            request = Request(VERSION.name, name, list_name, account, details)
            request_id = add_request(rows, VERSION, request, "", now, "version")
            made.append(find_request(rows, KINDS, request_id))
        return made

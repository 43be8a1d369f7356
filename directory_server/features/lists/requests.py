"""Requests for entries on lists: their kinds and their storage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import frozen

from ...domain.entries import Entry, is_storable, mcp_id_of
from ...domain.errors import BadInput
from ...domain.requests import Kind, Request
from ...serialization import document_digest, encode_entry, restore_entry
from ...tables import (
    IS_OPEN,
    REQUEST,
    Requests,
    Rows,
    add_request,
    find_request,
    held_documents,
    lock_requests,
    record_event,
    request_of,
    transaction,
)
from ...texts.sanitize import clean_line
from .tables import pick_entry, write_lists

LISTING = Kind("list", most=2_000, per_account=20, page="/account/requests")
"""Requests of members for the entry `subject` on the list `place`."""

VERSION = Kind("version", needs_text=False, most=0, of_accounts=False, expires=False, page="/account/requests")
"""A new document of an approved entry, with the digest in `details`. The directory makes such a request, for the
account of the approved one. Without it nobody would decide, so it does not expire."""

KINDS = (LISTING, VERSION)


@frozen
class Approval:
    """What was approved of an entry for a list: its document, encoded, and the digest of it."""

    version: str
    digest: str
    document: bytes
    approved_at: float


_OF_LISTS = f"{REQUEST} WHERE kind IN ('list', 'version')"

_WAITING = f"{_OF_LISTS} AND {IS_OPEN} AND place = ANY(:lists) ORDER BY state DESC, created_at, id LIMIT :limit"

_SAME = f"{_OF_LISTS} AND place = :list AND subject = :name AND {IS_OPEN}"

_LAST = f"{_OF_LISTS} AND subject = :name AND place = ANY(:lists) AND state <> 'withdrawn' ORDER BY updated_at, id"

_VERSIONS = f"{_OF_LISTS} AND kind = 'version' AND place = :list AND subject = :name ORDER BY updated_at"

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
class ListRequests(Requests):
    """The requests of all members. All methods raise Unavailable. Times are seconds since the epoch."""

    _kinds: tuple[Kind, ...] = KINDS

    async def waiting(self, lists: Sequence[str], limit: int) -> Sequence[Request]:
        """Return the open requests for lists: those that wait for an approver first, the oldest first."""
        return [request_of(row) for row in await self._tables.all(_WAITING, lists=list(lists), limit=limit)]

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


MAX_VALUES = 2_000
"""Values of a document that are compared."""

MAX_DEPTH = 20
"""Levels of a document that are compared one by one. Deeper values are compared as one text."""

MAX_DIFFERENCES = 100
"""Differences on a page."""

MAX_SHOWN = 300
"""Characters of a value on a page."""


@frozen
class Difference:
    """A value of a document that another document has not, or has otherwise; empty texts where there is none."""

    path: str
    before: str
    after: str


def approval_of(entry: Entry, now: float) -> Approval:
    """Return the approval of an entry as it is at `now`: what its publisher wrote, without dates of registries."""
    document = Entry(entry.server)
    return Approval(entry.version, document_digest(document), encode_entry(document), now)


def differences(before: bytes, after: Entry) -> list[Difference]:
    """Return how the document of an entry differs from an encoded one, at most MAX_DIFFERENCES + 1 values by path."""
    old, new = (dict(_values(server)) for server in (restore_entry(before).server, after.server))
    changed = [path for path in {**old, **new} if old.get(path) != new.get(path)]
    return [
        Difference(clean_line(path, MAX_SHOWN), _shown(old, path), _shown(new, path))
        for path in sorted(changed)[: MAX_DIFFERENCES + 1]
    ]


def _shown(values: Mapping[str, str], path: str) -> str:
    return clean_line(values.get(path, ""), MAX_SHOWN)


def _values(server: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the path and text of the first MAX_VALUES values of a document."""
    waiting: list[tuple[str, Any, int]] = [("", server, 0)]
    for _ in range(MAX_VALUES):
        if not waiting:
            return
        path, value, depth = waiting.pop()
        if isinstance(value, Mapping) and value and depth < MAX_DEPTH:
            waiting += [(f"{path}.{name}" if path else str(name), inner, depth + 1) for name, inner in value.items()]
        elif isinstance(value, list) and value and depth < MAX_DEPTH:
            waiting += [(f"{path}[{number}]", inner, depth + 1) for number, inner in enumerate(value)]
        else:
            yield path, value if isinstance(value, str) else repr(value)
    if waiting:
        # What is left counts as one value, so that no difference is lost.
        yield "…", repr(waiting)

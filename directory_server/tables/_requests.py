"""Requests of people that somebody decides on, and what happened to them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from ..domain.entries import is_storable
from ..domain.errors import BadInput, TooManyRequests
from ..domain.keys import new_id
from ..domain.requests import (
    MAX_DECIDED,
    TALK,
    EventKind,
    Kind,
    Request,
    RequestEvent,
    check_event,
    checked_text,
    unknown_request,
)
from ..serialization import decode_stored
from ..serialization import text as json_text
from ._tables import Row, Rows, Tables, snapshot, transaction

# Writers wait for each other, so that together they do not exceed a limit, and of two decisions the first counts.
_LOCK = "LOCK TABLE request IN SHARE ROW EXCLUSIVE MODE"

REQUEST = "SELECT kind, subject, place, account, details, state, created_at, updated_at, id FROM request"

IS_OPEN = "state IN ('open', 'asked')"

# Without its account a request of accounts waits for its deletion.
_OF_KIND = "kind = :kind AND (account IS NOT NULL OR NOT CAST(:of_accounts AS boolean))"

_COUNTS = f"""
    SELECT count(*), count(*) FILTER (WHERE subject = :subject AND place = :place),
        count(*) FILTER (WHERE account = :account),
        count(*) FILTER (WHERE account = :account AND subject = :subject AND place = :place)
    FROM request WHERE {_OF_KIND} AND {IS_OPEN}
"""

_COUNT_STATES = "SELECT state, count(*) FROM request WHERE kind = :kind GROUP BY state"

_FIND = f"{REQUEST} WHERE id = :id AND kind = ANY(:kinds)"

_PAGE = "(created_at, id) < (:before, :after) ORDER BY created_at DESC, id DESC LIMIT :limit"

_OPEN = f"{REQUEST} WHERE {_OF_KIND} AND {IS_OPEN} AND {_PAGE}"

_DECIDED = f"{REQUEST} WHERE {_OF_KIND} AND NOT {IS_OPEN} AND {_PAGE}"

_END_OF_PAGE = "SELECT created_at, id FROM request WHERE id = :id"

_OWN = f"{REQUEST} WHERE account = :account AND kind = ANY(:kinds) ORDER BY updated_at DESC, id LIMIT :limit"

_ADD = """
    INSERT INTO request (id, kind, subject, place, account, state, created_at, updated_at, details)
    VALUES (:id, :kind, :subject, :place, :account, 'open', :at, :at, :details)
"""

_ADD_EVENT = """
    INSERT INTO request_event (request, number, at, kind, account, text)
    VALUES (:id, (SELECT count(*) FROM request_event WHERE request = :id), :at, :kind, :account, :text)
"""

_EVENTS = "SELECT at, kind, account, text FROM request_event WHERE request = :id ORDER BY number"

_FIRST_TEXTS = "SELECT request, text FROM request_event WHERE number = 0 AND request = ANY(:ids)"

_COUNT_EVENTS = "SELECT count(*) FROM request_event WHERE request = :id"

_SET = "UPDATE request SET state = :state, updated_at = :at, details = :details WHERE id = :id"

_OLD = f"{REQUEST} WHERE kind = :kind AND {IS_OPEN} AND updated_at < :before LIMIT 500"

_FORGET = f"DELETE FROM request WHERE kind = :kind AND NOT {IS_OPEN} AND updated_at < :before"

_FORGET_MOST = f"""
    DELETE FROM request WHERE id IN (
        SELECT id FROM request WHERE kind = :kind AND NOT {IS_OPEN} ORDER BY updated_at DESC, id
        LIMIT 1000 OFFSET :kept
    )
"""

_FORGET_ACCOUNTS = "DELETE FROM request WHERE kind = :kind AND account IS NULL"


@frozen
class Requests:
    """The requests of `kinds`. All methods raise Unavailable."""

    _tables: Tables
    _kinds: tuple[Kind, ...]

    @transaction
    def add(self, rows: Rows, request: Request, text: str, now: float, field: str = "text") -> str:
        """Store a new request with the text of a `field`; return its id. Raises as `add_request` does."""
        return add_request(rows, self._kind(request.kind), request, text, now, field=field)

    async def find(self, request_id: str) -> Request:
        """Return a request. Raises NotFound."""
        return await self._tables.read(lambda rows: find_request(rows, self._kinds, request_id))

    @snapshot
    def list(self, rows: Rows, *, is_open: bool, limit: int, after: str = "") -> Sequence[Request]:
        """Return the last requests of the first kind that are open, or decided, after the one with the id `after`."""
        end = rows.one(_END_OF_PAGE, id=after) if after and is_storable(after) else (math.inf, "")
        if end is None:
            return []
        of_kind, page = _of(self._kinds[0]), {"before": end[0], "after": end[1], "limit": limit}
        return [request_of(row) for row in rows.all(_OPEN if is_open else _DECIDED, **of_kind, **page)]

    async def of_account(self, account: str, limit: int) -> Sequence[Request]:
        """Return the last changed requests of an account."""
        kinds = [kind.name for kind in self._kinds]
        return [request_of(row) for row in await self._tables.all(_OWN, account=account, kinds=kinds, limit=limit)]

    async def count(self) -> int:
        """Return the number of open requests."""
        return sum([int((await self._tables.one(_COUNTS, **_counted(kind)))[0]) for kind in self._kinds])

    async def count_states(self) -> Mapping[str, int]:
        """Return the numbers of stored requests by their states."""
        counts: dict[str, int] = {}
        for kind in self._kinds:
            for state, number in await self._tables.all(_COUNT_STATES, kind=kind.name):
                counts[state] = counts.get(state, 0) + number
        return counts

    async def events(self, request_id: str) -> Sequence[RequestEvent]:
        """Return the events of a request, the oldest first."""
        return [RequestEvent(*row) for row in await self._tables.all(_EVENTS, id=request_id)]

    async def texts(self, requests: Sequence[Request]) -> Mapping[str, str]:
        """Return the first texts of requests by their ids."""
        return dict(await self._tables.all(_FIRST_TEXTS, ids=[request.id for request in requests]))

    @transaction
    def record(
        self,
        rows: Rows,
        request_id: str,
        event: EventKind,
        account: str | None,
        text: str,
        now: float,
        details: Mapping[str, Any] | None = None,
    ) -> Request:
        """Add an event to a request, which changes its state and details; return it. Raises BadInput, NotFound."""
        lock_requests(rows)
        request = find_request(rows, self._kinds, request_id)
        self._lock_subject(rows, request)
        decided = record_event(rows, request, event, account, text, now, details)
        self._apply(rows, decided, event, now)
        return decided

    def _lock_subject(self, rows: Rows, request: Request) -> None:
        """Lock what `_apply` changes. Raises NotFound if it was deleted."""

    def _apply(self, rows: Rows, request: Request, event: EventKind, now: float) -> None:
        """Do what an event of a request means, in its transaction."""

    @transaction
    def expire(self, rows: Rows, before: float, now: float) -> Sequence[Request]:
        """Let requests expire whose last event is before `before`, and return them; delete old decided ones."""
        lock_requests(rows)
        expired = []
        for kind in self._kinds:
            if kind.of_accounts:
                rows.execute(_FORGET_ACCOUNTS, kind=kind.name)
            rows.execute(_FORGET, kind=kind.name, before=before)
            rows.execute(_FORGET_MOST, kind=kind.name, kept=MAX_DECIDED)
            for row in rows.all(_OLD, kind=kind.name, before=before) if kind.expires else ():
                expired.append(record_event(rows, request_of(row), "expired", None, "", now))
        return expired

    def _kind(self, name: str) -> Kind:
        return next(kind for kind in self._kinds if kind.name == name)


def _of(kind: Kind) -> Mapping[str, Any]:
    return {"kind": kind.name, "of_accounts": kind.of_accounts}


def _counted(kind: Kind, subject: str = "", place: str = "", account: str | None = None) -> Mapping[str, Any]:
    return {**_of(kind), "subject": subject, "place": place, "account": account or ""}


def lock_requests(rows: Rows) -> None:
    """Wait for other writers of requests until the end of the transaction."""
    rows.lock(_LOCK)


def add_request(
    rows: Rows, kind: Kind, request: Request, text: str, now: float, event: EventKind = "requested", field: str = "text"
) -> str:
    """Store a new request with the text of its first event; return its id.

    Raises BadInput for a wrong text, and for a second open request of the account about the same, and TooManyRequests.
    """
    cleaned = checked_text(field, text, is_required=kind.needs_text, longest=kind.longest)
    lock_requests(rows)
    counted = _counted(kind, request.subject, request.place, request.account)
    total, of_subject, of_account, same = rows.one(_COUNTS, **counted)
    if same:
        raise BadInput("You have an open request for this.", code="request_exists")
    if 0 < kind.per_account <= of_account:
        raise BadInput(f"An account has at most {kind.per_account} open requests.", code="requests_own")
    if 0 < kind.most <= total or 0 < kind.per_subject <= of_subject:
        raise TooManyRequests
    values = {"subject": request.subject, "place": request.place, "account": request.account}
    request_id, details = new_id(), json_text(request.details)
    rows.execute(_ADD, id=request_id, kind=kind.name, at=now, details=details, **values)
    rows.execute(_ADD_EVENT, id=request_id, at=now, kind=event, account=request.account, text=cleaned)
    return request_id


def find_request(rows: Rows, kinds: Sequence[Kind], request_id: str) -> Request:
    """Return a request of one of the `kinds`. Raises NotFound."""
    names = [kind.name for kind in kinds]
    row = rows.one(_FIND, id=request_id, kinds=names) if is_storable(request_id) else None
    if row is None:
        raise unknown_request()
    return request_of(row)


def record_event(
    rows: Rows,
    request: Request,
    event: EventKind,
    account: str | None,
    text: str,
    now: float,
    details: Mapping[str, Any] | None = None,
) -> Request:
    """Add an event to a request, which changes its state and details; return it. Raises BadInput.

    The transaction holds the lock of requests.
    """
    cleaned = checked_text("text", text, is_required=event in TALK)
    state = check_event(request, event, rows.one(_COUNT_EVENTS, id=request.id)[0])
    values = json_text({**request.details, **(details or {})})
    rows.execute(_SET, id=request.id, state=state, at=now, details=values)
    rows.execute(_ADD_EVENT, id=request.id, at=now, kind=event, account=account, text=cleaned)
    return request_of(rows.one(f"{REQUEST} WHERE id = :id", id=request.id))


def request_of(row: Row) -> Request:
    kind, subject, place, account, details, state, created_at, updated_at, request_id = row
    known = decode_stored(details.encode())
    return Request(kind, subject, place, account, known, state, created_at, updated_at, request_id)

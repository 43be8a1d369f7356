"""Requests for the approval of accounts that were registered, each changed in a transaction with its account."""

from __future__ import annotations

from attrs import frozen

from ..domain.accounts import REGISTRATION, Account
from ..domain.requests import EventKind, Request
from ._account_rows import APPROVE, DISABLING, LOCK_ACCOUNT, keys_of, lock_account
from ._requests import IS_OPEN, REQUEST, Requests, add_request, lock_requests, record_event, request_of
from ._tables import Rows, transaction

_OF_ACCOUNT = f"{REQUEST} WHERE subject = :id AND place = '' AND kind = :kind"

_OPEN = f"{_OF_ACCOUNT} AND {IS_OPEN}"

_WITHOUT = """
    SELECT id FROM account WHERE approved_at IS NULL AND disabled_at IS NULL AND created_at > :after AND NOT EXISTS (
        SELECT 1 FROM request WHERE subject = account.id AND place = '' AND kind = :kind
    ) LIMIT 500
"""


@frozen
class Registrations(Requests):
    """The requests for accounts. A decision changes the account in its transaction."""

    def _lock_subject(self, rows: Rows, request: Request) -> None:
        lock_account(rows, request.subject)

    def _apply(self, rows: Rows, request: Request, event: EventKind, now: float) -> None:
        """Approve the account, or disable it if it is declined with the detail `disabled`."""
        changes = {"approved": (APPROVE,), "declined": DISABLING if request.details.get("disabled") else ()}.get(event)
        for statement in changes or ():
            rows.execute(statement, id=request.subject, now=now)
        rows.end_keys(keys_of(rows, request.subject) if changes else ())

    async def add_missing(self, after: float, now: float) -> None:
        """Add requests for accounts that were registered after `after` without one.

        A process with an earlier version registers such accounts until it has seen that the schema is newer.
        """
        for (account_id,) in await self._tables.select(_WITHOUT, after=after, kind=REGISTRATION.name):
            await self._add_missing(account_id, now)

    @transaction
    def _add_missing(self, rows: Rows, account_id: str, now: float) -> None:
        lock_requests(rows)
        row = rows.one(LOCK_ACCOUNT, id=account_id)
        # It may be deleted, decided on or asked for meanwhile.
        is_waiting = row is not None and Account(*row).state == "pending"
        if is_waiting and rows.one(_OF_ACCOUNT, id=account_id, kind=REGISTRATION.name) is None:
            add_registration(rows, account_id, "", now)


def add_registration(rows: Rows, account_id: str, text: str, now: float) -> None:
    """Add the request for an account, whose row is locked, with a text for operators. Raises BadInput."""
    add_request(rows, REGISTRATION, Request(REGISTRATION.name, account_id, account=account_id), text, now)


def renew_registration(rows: Rows, account_id: str, now: float) -> None:
    """Add a request for an account, whose row is locked, unless one is open, as after a restored backup."""
    if rows.one(_OPEN, id=account_id, kind=REGISTRATION.name) is None:
        add_registration(rows, account_id, "", now)


def end_registration(rows: Rows, account_id: str, event: EventKind, now: float) -> None:
    """End the open request for the approval of an account, if there is one. The transaction has locked requests."""
    for row in rows.all(_OPEN, id=account_id, kind=REGISTRATION.name):
        record_event(rows, request_of(row), event, None, "", now)

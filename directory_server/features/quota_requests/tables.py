"""Requests for a larger limit, in the tables of the database."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve, frozen

from ...domain.entries import is_storable
from ...domain.errors import BadInput, NotFound
from ...domain.keys import check_limit
from ...sanitize import clean_text
from ...tables import Rows, Tables, transaction

# Writers wait for each other, so that together they do not exceed the limit. Readers do not wait.
_LOCK = "LOCK TABLE quota_request IN SHARE ROW EXCLUSIVE MODE"

_COUNT = "SELECT count(*) FROM quota_request WHERE decided_at IS NULL"

# An open request stays as it is: it may be on the page of an operator, who decides on what that shows.
_PUT = """
    INSERT INTO quota_request AS stored (account, wanted, reason, requested_at)
    VALUES (:account, :wanted, :reason, :at)
    ON CONFLICT (account) DO UPDATE SET wanted = excluded.wanted, reason = excluded.reason,
        requested_at = excluded.requested_at, decided_at = NULL, granted = NULL
    WHERE stored.decided_at IS NOT NULL
"""

_FIELDS = "SELECT account, wanted, reason, requested_at, decided_at, granted FROM quota_request"

_FIND = f"{_FIELDS} WHERE account = :account"

_LIST = f"{_FIELDS} WHERE decided_at IS NULL ORDER BY requested_at, account LIMIT :limit"

_DECIDE = """
    UPDATE quota_request SET decided_at = :at, granted = :granted WHERE account = :account AND decided_at IS NULL
"""


@frozen
class QuotaRequests:
    """The last request of each account. It is deleted with the account. All methods raise Unavailable."""

    _tables: Tables

    @transaction
    def put(self, rows: Rows, request: QuotaRequest) -> None:
        """Store a new request of an account, in place of a decided one. Keep an open one.

        Raises BadInput (see `QuotaRequest.checked`), and BadInput where MAX_OPEN requests are open.
        """
        new = request.checked()
        rows.lock(_LOCK)
        if rows.one(_COUNT)[0] >= MAX_OPEN:
            raise BadInput("Too many requests wait for an operator.", code="requests_full")
        rows.execute(_PUT, account=new.account, wanted=new.wanted, reason=new.reason, at=new.requested_at)

    async def find(self, account_id: str) -> QuotaRequest | None:
        """Return the last request of an account, None if there is none."""
        row = await self._tables.one(_FIND, account=account_id) if is_storable(account_id) else None
        return QuotaRequest(*row) if row else None

    async def open(self, limit: int) -> Sequence[QuotaRequest]:
        """Return at most `limit` open requests, the oldest first."""
        found = await self._tables.select(_LIST, limit=limit)
        return [QuotaRequest(*row) for row in found]

    async def count(self) -> int:
        """Return the number of open requests."""
        return int((await self._tables.one(_COUNT))[0])

    @transaction
    def decide(self, rows: Rows, account_id: str, at: float, granted: int | None) -> None:
        """Close the open request of an account. Raises NotFound if there is none."""
        if not is_storable(account_id) or not rows.execute(_DECIDE, account=account_id, at=at, granted=granted):
            raise NotFound("This account has no open request.")


MAX_REASON = 280
"""Characters of a reason: the cookie of a form's error cannot hold more."""

MAX_OPEN = 1_000
"""Requests that may be open at a time."""


@frozen
class QuotaRequest:
    """The last request of an account for `wanted` requests per 60 minutes of each key.

    Times are seconds since the epoch. A request without `decided_at` is open. A decided one was granted with the limit
    `granted`, or declined if that is None.
    """

    account: str
    wanted: int
    reason: str
    requested_at: float
    decided_at: float | None = None
    granted: int | None = None

    @property
    def is_open(self) -> bool:
        """Whether no operator has decided."""
        return self.decided_at is None

    def checked(self) -> QuotaRequest:
        """Return the request with a cleaned reason. Raises BadInput for a wrong limit, a missing or a long reason."""
        check_limit(self.wanted)
        reason = clean_text(self.reason, MAX_REASON + 1)
        if not reason:
            raise BadInput("reason: is required.", code="reason_missing")
        if len(reason) > MAX_REASON:
            raise BadInput(f"reason: must have at most {MAX_REASON} characters.", code="reason_long")
        return evolve(self, reason=reason)

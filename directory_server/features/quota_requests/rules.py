"""Requests for a larger limit: values and rules."""

from __future__ import annotations

from attrs import evolve, frozen

from ...domain.errors import BadInput
from ...domain.keys import check_limit
from ...sanitize import clean_text

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

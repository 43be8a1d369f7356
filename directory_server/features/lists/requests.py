"""Requests for entries on lists: values and rules."""

from __future__ import annotations

from typing import Literal, get_args

from attrs import frozen

from ...domain.errors import BadInput, NotFound
from ...sanitize import clean_text

MAX_TEXT = 280
"""Characters of a reason, a question or an answer: the cookie of a form's error cannot hold more."""

MAX_OPEN = 20
"""Open requests of an account."""

MAX_ALL_OPEN = 2_000
"""Open requests of all accounts."""

MAX_EVENTS = 30
"""Events of a request. With the last ones only a decision is possible."""

State = Literal["open", "asked", "approved", "declined", "expired", "withdrawn"]
"""`open` waits for an approver, `asked` for an answer of the member. The others are ends."""

STATES: tuple[State, ...] = get_args(State)

OPEN: tuple[State, ...] = ("open", "asked")
"""The states of requests that are not decided."""

EventKind = Literal["requested", "question", "answer", "approved", "declined", "expired", "withdrawn", "version"]
"""What happened to a request. `version`: the entry has another document, which waits."""


@frozen
class ListRequest:
    """A request for the entry `name` on a list, by the id of it and of the account. Times are seconds since the epoch.

    With `waits_for`, a digest, the entry was approved, and its document with this digest waits. The directory makes
    such a request, for the account of the approved one. `account` is None if that was deleted.
    """

    id: str
    list: str
    name: str
    account: str | None
    waits_for: str
    state: State
    created_at: float
    updated_at: float

    @property
    def is_open(self) -> bool:
        """Whether nobody has decided."""
        return self.state in OPEN


@frozen
class RequestEvent:
    """An event of a request: `account` is the id of the account that caused it, None for the directory."""

    at: float
    kind: EventKind
    account: str | None
    text: str


@frozen
class Approval:
    """What was approved of an entry for a list: its document, encoded, and the digest of it."""

    version: str
    digest: str
    document: bytes
    approved_at: float


def checked_text(field: str, text: str, *, is_required: bool = True) -> str:
    """Return the cleaned text of a form. Raises BadInput for a missing or a long one."""
    cleaned = clean_text(text, MAX_TEXT + 1)
    if is_required and not cleaned:
        raise BadInput(f"{field}: is required.", code="reason_missing")
    if len(cleaned) > MAX_TEXT:
        raise BadInput(f"{field}: must have at most {MAX_TEXT} characters.", code="reason_long")
    return cleaned


def unknown_request() -> NotFound:
    """Return the error of a request that there is not, or that the account may not see."""
    return NotFound("There is no such request.")


def decided() -> BadInput:
    """Return the error of a request that was decided, or that waits for the other side."""
    return BadInput("This request was decided, or does not wait for you.", code="decided")

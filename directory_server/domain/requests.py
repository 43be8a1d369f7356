"""Requests of people that somebody decides on, such as a larger quota: values and rules of all kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from attrs import field, frozen

from ..texts.sanitize import clean_text, without_stacks
from .errors import BadInput, NotFound

State = Literal["open", "asked", "approved", "declined", "closed", "withdrawn", "expired"]
"""`open` waits for a decision, `asked` for an answer of the person. The others are ends."""

STATES: tuple[State, ...] = get_args(State)

OPEN: tuple[State, ...] = ("open", "asked")
"""The states of requests that are not decided."""

EventKind = Literal[
    "requested", "version", "question", "answer", "approved", "declined", "closed", "withdrawn", "expired"
]
"""What happened to a request. `version`: what it is about has changed."""

AFTER: Mapping[EventKind, tuple[tuple[State, ...], State]] = {
    "version": (OPEN, "open"),
    "question": (("open",), "asked"),
    "answer": (("asked",), "open"),
    "approved": (OPEN, "approved"),
    "declined": (OPEN, "declined"),
    "closed": (OPEN, "closed"),
    "withdrawn": (OPEN, "withdrawn"),
    "expired": (OPEN, "expired"),
}
"""The states before an event of an open request, and the one after it."""

TALK: tuple[EventKind, ...] = ("question", "answer")
"""Events that need a text."""

MAX_TEXT = 280
"""Characters of a reason, a question or an answer: the cookie of a form's error cannot hold more."""

MAX_EVENTS = 30
"""Events of a request. With the last ones only a decision is possible."""

MAX_DECIDED = 1_000
"""Decided requests of a kind that are stored; the oldest are deleted."""


@frozen
class Kind:
    """A kind of requests. The first text has at most `longest` characters, and is required if the kind `needs_text`.

    At most `most` requests may be open, `per_subject` of a subject at a place, and `per_account` of an account; 0 is no
    limit. Requests of a kind that is `of_accounts` end with the account. Others may have none. Requests of a kind that
    `expires` expire if nothing happens to them for a time. `page` is the path where members see theirs, `noun` what
    e-mails call one.
    """

    name: str
    longest: int = MAX_TEXT
    needs_text: bool = True
    most: int = 1_000
    per_subject: int = 0
    per_account: int = 0
    of_accounts: bool = True
    expires: bool = True
    page: str = ""
    noun: str = "request"


@frozen
class Request:
    """A request about `subject` at a `place`, such as an entry and a list. Times are seconds since the epoch.

    `account` is the id of the account that it is of, `details` what else was asked for and decided.
    """

    kind: str
    subject: str
    place: str = ""
    account: str | None = None
    details: Mapping[str, Any] = field(factory=dict)
    state: State = "open"
    created_at: float = 0.0
    updated_at: float = 0.0
    id: str = ""

    @property
    def is_open(self) -> bool:
        """Whether nobody has decided."""
        return self.state in OPEN


@frozen
class RequestEvent:
    """An event of a request: `account` is the id of the account that caused it, None for others."""

    at: float
    kind: EventKind
    account: str | None
    text: str


def checked_text(field: str, text: str, *, is_required: bool = True, longest: int = MAX_TEXT) -> str:
    """Return the cleaned text of the `field` of a form. Raises BadInput for a missing or a long one."""
    cleaned = clean_text(text, longest + 1)
    if is_required and not cleaned:
        raise BadInput(f"{field}: is required.", code=f"{field}_missing")
    if len(cleaned) > longest:
        raise BadInput(f"{field}: must have at most {longest:,} characters.", code=f"{field}_long")
    return without_stacks(cleaned)


def check_event(request: Request, event: EventKind, count: int) -> State:
    """Return the state of a request with `count` events after another one. Raises BadInput."""
    before, after = AFTER[event]
    if request.state not in before:
        raise BadInput("This request was decided, or does not wait for you.", code="decided")
    if event in TALK and count >= MAX_EVENTS:
        raise BadInput("This request has too many questions. Decide on it.", code="events_full")
    return after


def unknown_request() -> NotFound:
    """Return the error of a request that there is not, or that the account may not see."""
    return NotFound("There is no such request.")

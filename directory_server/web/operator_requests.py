"""Access to the operator pages of features, and what these pages share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar
from urllib.parse import urlencode

from attrs import frozen
from twisted.logger import Logger
from werkzeug.exceptions import NotFound

from ..domain.ports.points import Point
from ..http import Request
from ..tables import Storage
from ..texts.sanitize import clean_line
from .account import CSRF, OPERATORS, AccountRequests, Member

ADMIN = OPERATORS

PER_PAGE = 20
"""Rows of a list on one page."""

MAX_LOGGED = 100
"""Characters of a field of a form in the log."""

_log = Logger()

T = TypeVar("T")


@frozen
class Notice:
    """A line above the overview: a link, the key of its text, and the number in it."""

    href: str
    text: str
    count: int


ReadNotice = Callable[[Storage], Awaitable[Notice | None]]
"""Reads a notice from the stored data; None if there is nothing to say."""


@frozen
class OverviewPart:
    """A section of the overview: a template, and what reads its values; it is left out if these are empty."""

    template: str
    read: Callable[[], Awaitable[Mapping[str, object]]]


@frozen
class OperatorRequests(AccountRequests):
    """Reads sessions and forms of operators, and sessions of auditors.

    A signed-out visitor is redirected to the sign-in form. A member gets the response of a path that does not exist.
    The role is read with the session at each request, so a change of it counts from the next request on.
    """

    async def member(self, request: Request) -> Member:
        """Return the signed-in operator or auditor. Raises HttpError without a session, and NotFound for members."""
        member = await super().member(request)
        if not member.account.sees_all:
            raise NotFound
        return member

    async def member_form(self, request: Request, *, of_sign_in: bool = False) -> tuple[Member, Mapping[str, str]]:
        """Return the operator and the fields of a form, and log both.

        Raises as `member` does, Forbidden and BadInput.
        """
        member, form = await super().member_form(request, of_sign_in=of_sign_in)
        sent = {name: clean_line(text, MAX_LOGGED) for name, text in form.items() if name != CSRF}
        path = clean_line(request.path.decode("latin-1"), MAX_LOGGED)
        _log.info("Operator {account}: {path} {sent}", account=member.account.id, path=path, sent=sent)
        return member, form


def row_number(text: str) -> int | None:
    """Return the number of a row, None for another text."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 18 else None


def page_of(rows: Sequence[T]) -> Sequence[T]:
    """Return the rows of a page. PER_PAGE + 1 rows are read, to find out whether there is another page."""
    return rows[:PER_PAGE]


def next_url(path: str, rows: Sequence[object], after: str, **values: str) -> str:
    """Return the URL of the page after the row `after`; empty if `rows` has no more rows than a page."""
    if len(rows) <= PER_PAGE:
        return ""
    return f"{path}?{urlencode({**{name: text for name, text in values.items() if text}, 'after': after})}"


NOTICES = Point[ReadNotice]()
"""Read the notices on the overview of operators."""

OVERVIEW_PARTS = Point[OverviewPart]()
"""Sections of features on the overview of operators."""

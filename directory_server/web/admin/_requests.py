"""Access to the operator pages, and what they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar
from urllib.parse import parse_qsl, urlencode

from attrs import frozen
from werkzeug.exceptions import NotFound

from ...http import Request
from ...http.headers import query
from ..account import AccountRequests, Member

ADMIN = "/admin"

PER_PAGE = 20
"""Rows of a list on one page."""

MAX_PARAMETERS = 20

T = TypeVar("T")


@frozen
class OperatorRequests(AccountRequests):
    """Reads sessions and forms of operators.

    A signed-out visitor is redirected to the sign-in form. A member gets the response of a path that does not exist.
    The role is read with the session at each request, so a change of it counts from the next request on.
    """

    async def member(self, request: Request) -> Member:
        """Return the signed-in operator. Raises HttpError without a session, and NotFound for members."""
        member = await super().member(request)
        if not member.account.is_operator:
            raise NotFound
        return member


def parameters(request: Request) -> Mapping[str, str]:
    """Return the query parameters; none if there are too many."""
    try:
        found = parse_qsl(query(request).decode("utf-8", "replace"), True, max_num_fields=MAX_PARAMETERS)
    except ValueError:
        return {}
    return dict(found)


def page_of(found: Sequence[T]) -> Sequence[T]:
    """Return the rows of a page. PER_PAGE + 1 rows are read, to find out whether there is another page."""
    return found[:PER_PAGE]


def next_url(path: str, found: Sequence[object], after: str, **values: str) -> str:
    """Return the URL of the page after the row `after`; empty if `found` has no more rows than a page."""
    if len(found) <= PER_PAGE:
        return ""
    return f"{path}?{urlencode({**{name: text for name, text in values.items() if text}, 'after': after})}"

"""What the pages of an account have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol
from urllib.parse import urlencode

from attrs import frozen
from twisted.python.failure import Failure

from ...domain.accounts import Account
from ...http import Request
from ...http.errors import HttpError
from ..error_responses import error_response
from ..responses import empty_response
from ._cookies import Cookies
from ._forms import fields
from ._session import Visitor

SIGN_IN = "/account/sign-in"
KEYS = "/account/keys"


class PageLayout(Protocol):
    """Makes pages."""

    def page(
        self, request: Request, template: str, values: Mapping[str, Any], *, account: Account | None, status: int
    ) -> bytes:
        """Set the head of an answer that no cache keeps, and return the page that `template` makes of `values`."""


@frozen
class Member:
    """One who is signed in, and sent a request."""

    account: Account
    visitor: Visitor


@frozen
class AccountRequests:
    """Says who sends a request, and answers with pages, in which forms are bound to that visitor."""

    cookies: Cookies
    _frame: PageLayout

    async def anybody(self, request: Request) -> Visitor:
        """Return who sent a request, with a cookie from now on."""
        visitor: Visitor = await self.cookies.procureSession(request)
        return visitor

    async def member(self, request: Request) -> Member:
        """Return which member sent a request; others are sent to sign in, and then back to the page."""
        visitor = await self.cookies.visitor(request)
        if visitor is None or visitor.account is None:
            back = request.path.decode("latin-1") if request.method in (b"GET", b"HEAD") else KEYS
            place = f"{SIGN_IN}?{urlencode({'next': back})}"
            raise HttpError(303, "sign_in", "Sign in first.", {"Location": place})
        return Member(visitor.account, visitor)

    async def form(self, request: Request) -> tuple[Visitor | None, Mapping[str, str]]:
        """Return who sent a form and its fields. Raises Forbidden, BadInput."""
        visitor = await self.cookies.visitor(request)
        return visitor, fields(request, visitor)

    async def members_form(self, request: Request) -> tuple[Member, Mapping[str, str]]:
        """Return which member sent a form, and its fields. Raises Forbidden, BadInput."""
        member = await self.member(request)
        return member, fields(request, member.visitor)

    def page(
        self, request: Request, visitor: Visitor, template: str, values: Mapping[str, Any], status: int = 200
    ) -> bytes:
        """Answer with a page."""
        given = {"error": None, "retry_after": None, "csrf": visitor.csrf, **values}
        return self._frame.page(request, f"account/{template}.html", given, account=visitor.account, status=status)

    def again(self, request: Request, visitor: Visitor, template: str, values: Mapping[str, Any]) -> bytes:
        """Answer with the page of a form that was refused by the exception at hand, and say why."""
        refused = error_response(Failure())
        for name, text in refused.headers.items():
            request.setHeader(name, text)
        why = {"error": refused, "retry_after": refused.headers.get("Retry-After")}
        return self.page(request, visitor, template, {**values, **why}, refused.status)


def see(request: Request, path: str) -> bytes:
    """Send a browser on to another page, which it is to GET (RFC 9110, section 15.4.4)."""
    return empty_response(request, 303, Location=path, **{"Cache-Control": "no-store"})

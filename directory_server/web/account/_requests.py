"""Sessions, forms and responses that all account pages share."""

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
from ._forms import fields
from ._sessions import Session, SessionCookies

SIGN_IN = "/account/sign-in"
KEYS = "/account/keys"


class PageLayout(Protocol):
    """Renders pages."""

    def page(
        self, request: Request, template: str, values: Mapping[str, Any], *, account: Account | None, status: int
    ) -> bytes:
        """Set the headers of an uncacheable response and return the body, rendered from `template` and `values`."""


@frozen
class Member:
    """A signed-in account and the session of the request."""

    account: Account
    session: Session


@frozen
class AccountRequests:
    """Reads sessions and forms of requests, and renders pages whose forms hold the session's CSRF token."""

    cookies: SessionCookies
    _layout: PageLayout

    async def session(self, request: Request) -> Session:
        """Return the session of a request; without one, create an anonymous session."""
        return await self.cookies.load_or_create(request)

    async def member(self, request: Request) -> Member:
        """Return the signed-in member. Raises HttpError, a redirect to the sign-in page, if there is none."""
        session = await self.cookies.load(request)
        if session is None or session.account is None:
            back = request.path.decode("latin-1") if request.method in (b"GET", b"HEAD") else KEYS
            location = f"{SIGN_IN}?{urlencode({'next': back})}"
            raise HttpError(303, "sign_in", "Sign in first.", {"Location": location})
        return Member(session.account, session)

    async def form(self, request: Request) -> tuple[Session, Mapping[str, str]]:
        """Return the session and the fields of a form. Raises Forbidden, BadInput."""
        session = await self.cookies.load(request)
        form = fields(request, session)
        assert session is not None  # fields() raises Forbidden for None
        return session, form

    async def member_form(self, request: Request) -> tuple[Member, Mapping[str, str]]:
        """Return the signed-in member and the fields of a form. Raises HttpError, Forbidden, BadInput."""
        member = await self.member(request)
        return member, fields(request, member.session)

    def page(
        self, request: Request, session: Session, template: str, values: Mapping[str, Any], status: int = 200
    ) -> bytes:
        """Return a page."""
        values = {"error": None, "retry_after": None, "csrf": session.csrf, **values}
        return self._layout.page(request, f"account/{template}.html", values, account=session.account, status=status)

    def form_error(self, request: Request, session: Session, template: str, values: Mapping[str, Any]) -> bytes:
        """Return the page of a form with the message of the exception that is being handled."""
        error = error_response(Failure())
        for name, text in error.headers.items():
            request.setHeader(name, text)
        values = {**values, "error": error, "retry_after": error.headers.get("Retry-After")}
        return self.page(request, session, template, values, error.status)


def see_other(request: Request, path: str) -> bytes:
    """Return a redirect that the browser follows with GET (RFC 9110, section 15.4.4)."""
    return empty_response(request, 303, Location=path, **{"Cache-Control": "no-store"})

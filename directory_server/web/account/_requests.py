"""Sessions, forms and responses that all account pages share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self
from urllib.parse import urlencode

from attrs import evolve, frozen
from twisted.python.failure import Failure

from ...domain.accounts import Account, check_not_auditor
from ...domain.audit import Actor
from ...domain.clients import Client
from ...http import Request
from ...http.errors import HttpError
from ..error_responses import error_response, note_error
from ..pages import Layout
from ..responses import empty_response
from ._flash import Flash, delete, read
from ._forms import fields
from ._sessions import Session, SessionCookies

SIGN_IN = "/account/sign-in"
KEYS = "/account/keys"


@frozen
class Member:
    """A signed-in account and the session of the request."""

    account: Account
    session: Session


@frozen
class AccountRequests:
    """Reads sessions and forms of requests, and renders pages whose forms hold the session's CSRF token.

    Each form is answered with a redirect (POST/redirect/GET), so a reload never sends a form again. The page behind the
    redirect shows the confirmation or the error of the form.
    """

    cookies: SessionCookies
    _layout: Layout
    _folder: str = "account"
    """The folder of the templates."""

    def of_folder(self, folder: str) -> Self:
        """Return the same for pages whose templates are in `folder`."""
        return evolve(self, folder=folder)

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
        if request.audit is not None:
            request.audit.identify(session.account)
        return Member(session.account, session)

    async def form(self, request: Request) -> tuple[Session, Mapping[str, str]]:
        """Return the session and the fields of a form. Raises Forbidden, BadInput."""
        session = await self.cookies.load(request)
        form = fields(request, session)
        assert session is not None  # fields() raises Forbidden for None
        if request.audit is not None:
            request.audit.note(Actor("anonymous"), form)
        return session, form

    async def member_form(self, request: Request, *, of_sign_in: bool = False) -> tuple[Member, Mapping[str, str]]:
        """Return the signed-in member and the fields of a form. Raises HttpError, Forbidden, BadInput.

        An auditor may send only forms `of_sign_in`: those of her password and her sessions.
        """
        member = await self.member(request)
        form = fields(request, member.session)
        if request.audit is not None:
            await request.audit.begin(request.audit.actor, form)
        if not of_sign_in:
            check_not_auditor(member.account)
        return member, form

    def client(self, request: Request) -> Client:
        """Return the network and the browser of a request."""
        return self.cookies.client(request)

    def page(
        self, request: Request, session: Session, template: str, values: Mapping[str, Any], status: int = 200
    ) -> bytes:
        """Return a page. Texts in `values` are replaced by those of the form whose error the page shows."""
        flash = read(request)
        if flash is not None and request.method != b"HEAD":
            delete(request, secure=self.cookies.is_secure(request))
        flash = flash or Flash()
        shown_again = {name: text for name, text in flash.values.items() if isinstance(values.get(name), str)}
        flashed = {"notice": flash.notice, "error": flash.error, "retry_after": flash.retry_after}
        values = {**flashed, "csrf": session.csrf, **values, **shown_again}
        path = f"{self._folder}/{template}.html"
        return self._layout.page(request, path, values, account=session.account, status=status)

    def base_url(self, request: Request) -> str:
        """Return the URL of the server for the viewer."""
        return self._layout.base_url(request)

    def has_flash(self, request: Request) -> bool:
        """Return whether `page` shows the result of a form."""
        return read(request) is not None

    def redirect(self, request: Request, path: str, notice: str = "", **values: str) -> bytes:
        """Return a redirect to the page at `path`, which shows the `notice` with this code."""
        if notice:
            self._flash(request, path, Flash(notice, values=values))
        return _see_other(request, path)

    def form_error(self, request: Request, path: str, **values: str) -> bytes:
        """Return a redirect to the form at `path`, which shows the exception that is being handled.

        `values` are the fields that the form shows again.
        """
        error = error_response(Failure())
        note_error(request, error.code)
        retry_after = int(error.headers.get("Retry-After", 0))
        self._flash(request, path, Flash(error=error.code, retry_after=retry_after, values=values))
        return _see_other(request, path)

    def _flash(self, request: Request, path: str, flash: Flash) -> None:
        flash.set(request, path.partition("?")[0], secure=self.cookies.is_secure(request))


def _see_other(request: Request, path: str) -> bytes:
    """Return a redirect that the browser follows with GET (RFC 9110, section 15.4.4)."""
    return empty_response(request, 303, Location=path, **{"Cache-Control": "no-store"})

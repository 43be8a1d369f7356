"""Sessions, forms, responses and flash messages that all account pages share."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, Self
from urllib.parse import parse_qsl, urlencode

from attrs import evolve, field, frozen
from twisted.python.failure import Failure

from ...domain.accounts import Account, check_not_auditor
from ...domain.audit import Actor
from ...domain.errors import DirectoryError, Forbidden
from ...domain.requests import EventKind, unknown_request
from ...http import Request
from ...http import Request as HttpRequest
from ...http.errors import HttpError
from ...http.headers import cookie
from ...tables import Requests
from ..audit import Values, changing
from ..error_responses import error_response, note_error
from ..forms import MAX_FORM, same_site_fields
from ..pages import Layout
from ..responses import empty_response
from ._sessions import Session, SessionCookies

SIGN_IN = "/account/sign-in"
KEYS = "/account/keys"
OPERATORS = "/admin"


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


CSRF = "csrf"
"""Name of the field that holds the CSRF token."""

# Browsers read a backslash as a slash, drop tabs and line breaks, and read a host after two leading slashes.
_LOCAL_PATH = re.compile(r"/(?!/)[A-Za-z0-9._~!$&'()*+,;=:@%/?-]*")


def fields(request: Request, session: Session | None) -> Mapping[str, str]:
    """Return the fields of a form.

    Raises Forbidden if the form comes from another site or its CSRF token is not that of `session`, and BadInput if
    the body is not a valid form.
    """
    form = same_site_fields(request)
    if session is None or not session.has_csrf(form.get(CSRF, "")):
        raise Forbidden("This form has expired. Reload the page and try again.", code="form_foreign")
    return form


def local_path(path: str, default: str) -> str:
    """Return `path` if it is a path of this site, else `default`. This prevents open redirects."""
    return path if len(path) <= MAX_FORM and _LOCAL_PATH.fullmatch(path) else default


COOKIE = "flash"
"""Name of the cookie. It has no secret: passwords and keys are never in a flash."""

LIFETIME = 60
"""Seconds for which the browser stores the cookie. The page deletes it."""

_SHOWN_AGAIN = ("email", "label", "expires", "tools", "entry", "list", "reason")
"""Names of the values."""

_LONGEST = 300
"""Characters of a form value that is shown again. Fields are shorter, so a longer value is invalid anyway."""


@frozen
class Flash:
    """The `notice` or the `error` of a form, as a code, and the values of the form's fields that are shown again.

    `retry_after` is the seconds after which the form may be sent again, 0 for at once.
    """

    notice: str = ""
    error: str = ""
    retry_after: int = 0
    values: Mapping[str, str] = field(factory=dict)

    def set(self, request: Request, path: str, *, secure: bool) -> None:
        """Set the cookie, for the page at `path`."""
        values = {f"value.{name}": text[:_LONGEST] for name, text in self.values.items()}
        known = {"path": _mark(path), "notice": self.notice, "error": self.error, "retry": str(self.retry_after)}
        # Percent-encoded only: browsers drop cookies of more than 4,096 bytes, and a character may have four.
        encoded = urlencode({**known, **values}, errors="replace")
        request.add_cookie(COOKIE, encoded, max_age=LIFETIME, secure=secure)


def read(request: Request) -> Flash | None:
    """Return the flash for the page of `request`, None if there is none or it is malformed."""
    encoded = cookie(request, COOKIE)
    if not encoded:
        return None
    try:
        fields = dict(parse_qsl(encoded, keep_blank_values=True, max_num_fields=10))
        retry_after = int(fields["retry"])
        values = {name: fields[f"value.{name}"] for name in _SHOWN_AGAIN if f"value.{name}" in fields}
        is_for_page = fields["path"] == _mark(request.path.decode("latin-1"))
        return Flash(fields["notice"], fields["error"], retry_after, values) if is_for_page else None
    except (KeyError, ValueError):
        return None


def delete(request: Request, *, secure: bool) -> None:
    request.add_cookie(COOKIE, "", max_age=0, secure=secure)


def _mark(path: str) -> str:
    """Return a digest of a path. The path of an invitation is secret."""
    return sha256(path.encode("utf-8", "replace")).hexdigest()[:16]


ACTIONS: Mapping[str, EventKind] = {"answer": "answer", "withdraw": "withdrawn"}


@frozen
class OwnRequests:
    """Handles the forms for the requests `stored` of a member; `_path` shows them. The macro `talk` has the forms."""

    _requests: AccountRequests
    stored: Requests
    _now: Callable[[], float]
    _path: str

    async def change(self, request: HttpRequest, request_id: str, action: str) -> bytes:
        """Answer a question or withdraw, and go back."""
        member, fields = await self._requests.member_form(request)
        text = fields.get("text", "")
        try:
            own = await self.stored.find(request_id)
            if action not in ACTIONS or own.account != member.account.id:
                raise unknown_request()
            async with changing(request, lambda: self._state(request_id)):
                await self.stored.record(own.id, ACTIONS[action], own.account, text, self._now())
        except DirectoryError:
            return self._requests.form_error(request, self._path, reason=text)
        return self._requests.redirect(request, self._path, action)

    async def _state(self, request_id: str) -> Values:
        own = await self.stored.find(request_id)
        return {"subject": own.subject, "state": own.state}

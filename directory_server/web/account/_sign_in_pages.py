"""Pages for sign-in by password or in other ways, sign-out, invitations and registration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol
from urllib.parse import parse_qs, urlencode

from attrs import frozen

from ...domain.accounts import Account
from ...domain.errors import BadInput, DirectoryError, NotFound, Unavailable
from ...domain.ports.points import Point
from ...domain.requests import MAX_TEXT, checked_text
from ...http import Request
from ...http.headers import query
from ...services.accounts import LONGEST, SHORTEST, AccountService, FirstAccount
from ...services.user_keys import UserKeys
from ..routes import App
from ._limits import AttemptLimits, RegistrationLimits, pending_limits
from ._requests import KEYS, OPERATORS, SIGN_IN, AccountRequests, local_path

REGISTER = "/account/register"

PASSWORD_LENGTHS = {"shortest": SHORTEST, "longest": LONGEST}
"""Template values of forms with a new password."""


@frozen
class SignInPages:
    """Handles the pages; `_attempts` and `_registrations` limit how often."""

    app = App()

    _requests: AccountRequests
    _accounts: AccountService
    _attempts: AttemptLimits
    _registrations: RegistrationLimits
    _keys: UserKeys
    _first: FirstAccount
    _methods: Sequence[SignInMethod]

    @app.get(SIGN_IN)
    async def get(self, request: Request) -> bytes:
        session = await self._requests.cookies.load_or_create(request)
        next_path = parse_qs(query(request).decode("latin-1")).get("next", [KEYS])[-1]
        values = {
            "email": "",
            "next": local_path(next_path, KEYS),
            "open": self._registrations.is_open,
            "has_accounts": await self._first.exists(),
            "methods": self._methods,
            "passwords": self._accounts.has_passwords,
        }
        return self._requests.page(request, session, "sign_in", values)

    @app.post(SIGN_IN)
    async def post(self, request: Request) -> bytes:
        """Check the password, start a new session and redirect to the page that `next` names."""
        _, form = await self._requests.form(request)
        email, back = form.get("email", ""), local_path(form.get("next", ""), KEYS)
        try:
            await self._attempts.charge_account(request, email)
            client = self._requests.cookies.client(request)
            new_session = await self._accounts.sign_in(email, form.get("password", ""), client)
        except DirectoryError:
            return self._requests.form_error(request, f"{SIGN_IN}?{urlencode({'next': back})}", email=email)
        self._requests.cookies.set(request, new_session)
        return self._requests.redirect(request, back)

    @app.post("/account/sign-out")
    async def sign_out(self, request: Request) -> bytes:
        member, _ = await self._requests.member_form(request, of_sign_in=True)
        await self._accounts.sign_out(member.session.identifier)
        self._requests.cookies.set(request, "", max_age=0)
        for method in self._methods:
            if path := await method.signed_out(member.account):
                return self._requests.redirect(request, path)
        return self._requests.redirect(request, SIGN_IN, "signed_out")

    @app.get("/account/invitation/{token}")
    async def get_invitation(self, request: Request, token: str) -> bytes:
        """Return the form that sets a password. The link stays valid, because programs also open links."""
        session = await self._requests.cookies.load_or_create(request)
        await self._attempts.charge(request)
        account = await self._accounts.linked_account(token)
        values = {"email": account.email, "passwords": self._accounts.has_passwords, **PASSWORD_LENGTHS}
        return self._requests.page(request, session, "invitation", values)

    @app.post("/account/invitation/{token}")
    async def post_invitation(self, request: Request, token: str) -> bytes:
        """Set the password, if there are passwords, which uses up the link, and sign in."""
        _, form = await self._requests.form(request)
        await self._attempts.charge(request)
        try:
            account = await self._accounts.linked_account(token)
            new_session = await self._accounts.accept(
                token, form.get("password", ""), self._requests.cookies.client(request)
            )
        except (BadInput, Unavailable):
            return self._requests.form_error(request, request.path.decode("latin-1"))
        self._requests.cookies.set(request, new_session)
        if account.is_operator:
            # The overview says what to do next.
            return self._requests.redirect(request, OPERATORS)
        return self._requests.redirect(request, KEYS, "password_set" if self._accounts.has_passwords else "")

    @app.get("/account/register")
    async def get_registration(self, request: Request) -> bytes:
        """Return the registration form. Raises NotFound if registration is by invitation only."""
        self._check_open()
        session = await self._requests.cookies.load_or_create(request)
        values = {"email": "", "reason": "", "longest_text": MAX_TEXT, **PASSWORD_LENGTHS, **pending_limits(self._keys)}
        return self._requests.page(request, session, "registration", values)

    @app.post("/account/register")
    async def post_registration(self, request: Request) -> bytes:
        """Create an account and sign in. Raises NotFound if registration is by invitation only."""
        self._check_open()
        _, form = await self._requests.form(request)
        email, text = form.get("email", ""), form.get("text", "")
        try:
            await self._attempts.charge(request)
            # Check password and text first: a rejected one does not count as a registration.
            password = form.get("password", "")
            self._accounts.check_password(email, password)
            checked_text("text", text, is_required=False)
            self._registrations.charge(request)
            new_session = await self._accounts.register(email, password, self._requests.cookies.client(request), text)
        except DirectoryError:
            return self._requests.form_error(request, REGISTER, email=email, reason=text)
        self._requests.cookies.set(request, new_session)
        return self._requests.redirect(request, KEYS, "account_created")

    def _check_open(self) -> None:
        if not self._registrations.is_open:
            raise NotFound("Accounts are by invitation only. Ask the operator of this directory.", code="invited_only")


class SignInMethod(Protocol):
    """A button on the sign-in page."""

    @property
    def title(self) -> str:
        """With what people sign in, in the text of the button."""

    @property
    def path(self) -> str:
        """The path that starts a sign-in. Its parameter `next` is the path of the page that follows."""

    async def signed_out(self, account: Account) -> str:
        """Return the path of the page for somebody who has signed out of `account`; "" for the sign-in page."""


SIGN_IN_METHODS = Point[SignInMethod]()
"""Further methods on the sign-in page."""

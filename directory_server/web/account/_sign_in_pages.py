"""The pages by which people get in and out: sign-in, invitation, registration, password."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qs

from attrs import frozen

from ...domain.errors import DirectoryError, NotFound
from ...http import Request
from ...http.headers import query
from ...services.accounts import LONGEST, SHORTEST, AccountService
from ...services.user_keys import UserKeys
from ._attempts import Attempts
from ._forms import local
from ._registrations import Registrations
from ._requests import KEYS, SIGN_IN, AccountRequests, see
from ._terms import pending_terms

_BOUNDS = {"shortest": SHORTEST, "longest": LONGEST}


@frozen
class SignInPages:
    """Answers those pages, within the limits of `attempts` and `registrations`."""

    _visits: AccountRequests
    _membership: AccountService
    _attempts: Attempts
    _registrations: Registrations
    _keys: UserKeys

    async def get(self, request: Request) -> bytes:
        """Answer the form to sign in with."""
        visitor = await self._visits.anybody(request)
        wanted = parse_qs(query(request).decode("latin-1")).get("next", [KEYS])[-1]
        values = {"email": "", "next": local(wanted, KEYS), "open": self._registrations.is_open}
        return self._visits.page(request, visitor, "sign_in", values)

    async def post(self, request: Request) -> bytes:
        """Sign somebody in, into a session that is new."""
        visitor, form = await self._visits.form(request)
        email, back = form.get("email", ""), local(form.get("next", ""), KEYS)
        try:
            self._attempts.charge_account(request, email)
            client = self._attempts.network(request)
            session = await self._membership.sign_in(email, form.get("password", ""), client)
        except DirectoryError:
            assert visitor is not None
            values = {"email": email, "next": back, "open": self._registrations.is_open}
            return self._visits.again(request, visitor, "sign_in", values)
        return self._let_in(request, session, back)

    async def sign_out(self, request: Request) -> bytes:
        """End a session."""
        member, _ = await self._visits.members_form(request)
        await self._membership.sign_out(member.visitor.identifier)
        self._visits.cookies.give(request, "", longest=0)
        return see(request, SIGN_IN)

    async def get_invitation(self, request: Request, token: str) -> bytes:
        """Answer the form to set a password with; the link stays good, for programs look at links, too."""
        visitor = await self._visits.anybody(request)
        self._attempts.charge(request)
        account = await self._membership.linked_account(token)
        return self._visits.page(request, visitor, "invitation", {"email": account.email, **_BOUNDS})

    async def post_invitation(self, request: Request, token: str) -> bytes:
        """Set a password, once, and sign its owner in."""
        visitor, form = await self._visits.form(request)
        self._attempts.charge(request)
        account = await self._membership.linked_account(token)
        try:
            session = await self._membership.accept(token, form.get("password", ""), self._attempts.network(request))
        except DirectoryError:
            assert visitor is not None
            return self._visits.again(request, visitor, "invitation", {"email": account.email, **_BOUNDS})
        return self._let_in(request, session, KEYS)

    async def get_registration(self, request: Request) -> bytes:
        """Answer the form to make an account with. Raises NotFound where only those who are invited may."""
        self._check_open()
        visitor = await self._visits.anybody(request)
        return self._visits.page(request, visitor, "registration", self._registration(""))

    async def post_registration(self, request: Request) -> bytes:
        """Make an account and sign its owner in. Raises NotFound where only those who are invited may."""
        self._check_open()
        visitor, form = await self._visits.form(request)
        email = form.get("email", "")
        try:
            self._attempts.charge(request)
            # A password that is too short is the person's mistake and not a registration.
            password = form.get("password", "")
            self._membership.check_password(email, password)
            self._registrations.charge(request)
            session = await self._membership.register(email, password, self._attempts.network(request))
        except DirectoryError:
            assert visitor is not None
            return self._visits.again(request, visitor, "registration", self._registration(email))
        return self._let_in(request, session, KEYS)

    async def get_password(self, request: Request) -> bytes:
        """Answer the form to change a password with."""
        member = await self._visits.member(request)
        return self._visits.page(request, member.visitor, "password", _BOUNDS)

    async def post_password(self, request: Request) -> bytes:
        """Change a password, and end all sessions but a new one."""
        member, form = await self._visits.members_form(request)
        try:
            self._attempts.charge_account(request, member.account.email)
            old, new = form.get("old", ""), form.get("password", "")
            client = self._attempts.network(request)
            session = await self._membership.change_password(member.account, old, new, client)
        except DirectoryError:
            return self._visits.again(request, member.visitor, "password", _BOUNDS)
        return self._let_in(request, session, KEYS)

    def _registration(self, email: str) -> Mapping[str, object]:
        return {"email": email, **_BOUNDS, **pending_terms(self._keys)}

    def _let_in(self, request: Request, session: str, path: str) -> bytes:
        self._visits.cookies.give(request, session)
        return see(request, path)

    def _check_open(self) -> None:
        if not self._registrations.is_open:
            raise NotFound("Here people are invited by the operator of the directory.", code="invited_only")

"""Pages for the account itself: the password, the deletion and the browser sessions; and the handlers of all pages."""

from __future__ import annotations

from attrs import frozen

from ...domain.errors import BadInput, DirectoryError
from ...http import Request
from ...services.accounts import AccountService
from ...services.user_keys import UserKeys
from ._key_pages import ConnectPage, KeyPages
from ._limits import AttemptLimits
from ._requests import KEYS, SIGN_IN, AccountRequests
from ._sign_in_pages import PASSWORD_LENGTHS, SignInPages

PASSWORD = "/account/password"
DELETE = "/account/delete"


@frozen
class SettingsPages:
    """Handles the pages; `_attempts` limits how often a password is checked."""

    _requests: AccountRequests
    _accounts: AccountService
    _attempts: AttemptLimits
    _keys: UserKeys

    async def get_password(self, request: Request) -> bytes:
        """Return the page of the account with the form that changes the password."""
        member = await self._requests.member(request)
        has_password = await self._accounts.has_password(member.account)
        values = {"created": member.account.created_at, "has_password": has_password, **PASSWORD_LENGTHS}
        return self._requests.page(request, member.session, "password", values)

    async def post_password(self, request: Request) -> bytes:
        """Change the password, end all sessions and start a new one."""
        member, form = await self._requests.member_form(request, of_sign_in=True)
        old, new = form.get("old", ""), form.get("password", "")
        try:
            await self._attempts.charge_account(request, member.account.email)
            client = self._requests.client(request)
            new_session = await self._accounts.change_password(member.account, old, new, client)
        except DirectoryError:
            return self._requests.form_error(request, PASSWORD)
        self._requests.cookies.set(request, new_session)
        return self._requests.redirect(request, KEYS, "password_changed")

    async def get_delete(self, request: Request) -> bytes:
        """Return the form that deletes the account. It says what is deleted and what remains."""
        member = await self._requests.member(request)
        keys = len((await self._keys.list(member.account)).keys)
        values = {"keys": keys, "has_password": await self._accounts.has_password(member.account)}
        return self._requests.page(request, member.session, "delete", values)

    async def post_delete(self, request: Request) -> bytes:
        """Delete the account with its keys and sessions, and redirect to the sign-in form."""
        member, form = await self._requests.member_form(request)
        try:
            if form.get("confirmed") != "yes":
                raise BadInput("confirmed: must be yes.", code="not_confirmed")
            await self._attempts.charge_account(request, member.account.email)
            client = self._requests.client(request)
            await self._accounts.delete(member.account, form.get("old", ""), client)
        except DirectoryError:
            return self._requests.form_error(request, DELETE)
        self._requests.cookies.set(request, "", max_age=0)
        return self._requests.redirect(request, SIGN_IN, "account_deleted")


SESSIONS = "/account/sessions"


@frozen
class SessionPages:
    """Handles the list of sessions and its forms."""

    _requests: AccountRequests
    _accounts: AccountService

    async def get(self, request: Request) -> bytes:
        """Return the list of sessions, the session of the request first."""
        member = await self._requests.member(request)
        current = member.session.id
        sessions = sorted(await self._accounts.sessions(member.account), key=lambda session: session.id != current)
        values = {"sessions": sessions, "current": current, "recorded": self._accounts.records_clients}
        return self._requests.page(request, member.session, "sessions", values)

    async def end(self, request: Request, session_id: str) -> bytes:
        """End another session. The session of the request ends with the form that signs out."""
        member, _ = await self._requests.member_form(request, of_sign_in=True)
        try:
            await self._accounts.end_session(member.account, session_id)
        except DirectoryError:
            return self._requests.form_error(request, SESSIONS)
        return self._requests.redirect(request, SESSIONS, "session_ended")

    async def end_others(self, request: Request) -> bytes:
        """End all sessions except that of the request."""
        member, _ = await self._requests.member_form(request, of_sign_in=True)
        await self._accounts.end_other_sessions(member.session.identifier)
        return self._requests.redirect(request, SESSIONS, "sessions_ended")


@frozen
class AccountPages:
    """The handlers of the account pages."""

    sign_in: SignInPages
    keys: KeyPages
    connect: ConnectPage
    sessions: SessionPages
    settings: SettingsPages

"""Pages for the account itself: the password, the deletion and the browser sessions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from ...domain.errors import BadInput
from ...services.accounts import AccountService
from ...services.user_keys import UserKeys
from ...tables import StoredSessions
from ..routes import App
from ._limits import AttemptLimits
from ._member_pages import Next, Sent, form, page
from ._requests import KEYS, SIGN_IN, AccountRequests
from ._sign_in_pages import PASSWORD_LENGTHS

PASSWORD = "/account/password"
DELETE = "/account/delete"


@frozen
class SettingsPages:
    """Handles the pages; `_attempts` limits how often a password is checked."""

    app = App()

    _requests: AccountRequests
    _accounts: AccountService
    _attempts: AttemptLimits
    _keys: UserKeys

    @app.get(PASSWORD)
    @page("password")
    async def get_password(self, sent: Sent) -> Mapping[str, Any]:
        account = sent.member.account
        has_password = await self._accounts.has_password(account)
        return {"created": account.created_at, "has_password": has_password, **PASSWORD_LENGTHS}

    @app.post(PASSWORD)
    @form(PASSWORD, of_sign_in=True)
    async def post_password(self, sent: Sent) -> Next:
        """Change the password, end all sessions and start a new one."""
        request, account = sent.request, sent.member.account
        old, new = sent.fields.get("old", ""), sent.fields.get("password", "")
        await self._attempts.charge_account(request, account.email)
        session = await self._accounts.change_password(account, old, new, self._requests.cookies.client(request))
        self._requests.cookies.set(request, session)
        return Next(KEYS, "password_changed")

    @app.get(DELETE)
    @page("delete")
    async def get_delete(self, sent: Sent) -> Mapping[str, Any]:
        """Return the form that deletes the account. It says what is deleted and what remains."""
        account = sent.member.account
        keys = len((await self._keys.list(account)).keys)
        return {"keys": keys, "has_password": await self._accounts.has_password(account)}

    @app.post(DELETE)
    @form(DELETE)
    async def post_delete(self, sent: Sent) -> Next:
        request, account = sent.request, sent.member.account
        if sent.fields.get("confirmed") != "yes":
            raise BadInput("confirmed: must be yes.", code="not_confirmed")
        await self._attempts.charge_account(request, account.email)
        await self._accounts.delete(account, sent.fields.get("old", ""), self._requests.cookies.client(request))
        self._requests.cookies.set(request, "", max_age=0)
        return Next(SIGN_IN, "account_deleted")


SESSIONS = "/account/sessions"


@frozen
class SessionPages:
    """Handles the list of sessions and its forms. `_records_clients` is whether sessions have the clients."""

    app = App()

    _requests: AccountRequests
    _sessions: StoredSessions
    _records_clients: bool

    @app.get(SESSIONS)
    @page("sessions")
    async def get(self, sent: Sent) -> Mapping[str, Any]:
        """Return the list of sessions, the session of the request first."""
        current = sent.member.session.id
        sessions = sorted(await self._sessions.list(sent.member.account.id), key=lambda session: session.id != current)
        return {"sessions": sessions, "current": current, "recorded": self._records_clients}

    @app.post(f"{SESSIONS}/{{session_id}}/end")
    @form(SESSIONS, of_sign_in=True)
    async def end(self, sent: Sent, session_id: str) -> Next:
        """End another session. The session of the request ends with the form that signs out."""
        await self._sessions.end(sent.member.account.id, session_id)
        return Next(SESSIONS, "session_ended")

    @app.post(f"{SESSIONS}/end-others")
    @form(SESSIONS, of_sign_in=True)
    async def end_others(self, sent: Sent) -> Next:
        """End all sessions except that of the request."""
        await self._sessions.end_others(sent.member.session.identifier)
        return Next(SESSIONS, "sessions_ended")

"""The page with the browser sessions of a member."""

from __future__ import annotations

from attrs import frozen

from ...domain.errors import DirectoryError
from ...http import Request
from ...services.accounts import AccountService
from ._requests import AccountRequests

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

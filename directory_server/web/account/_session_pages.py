"""The page with the browser sessions of a member."""

from __future__ import annotations

from attrs import frozen

from ...domain.accounts import BrowserSession
from ...domain.clients import Client
from ...domain.errors import DirectoryError
from ...http import Request
from ...services.accounts import AccountService
from ._moments import Moment, moment
from ._requests import AccountRequests

SESSIONS = "/account/sessions"


@frozen
class SessionRow:
    """A session in the list; `current` is whether it is the session of the request."""

    id: str
    started: Moment | None
    last_seen: Moment | None
    client: Client
    current: bool


@frozen
class SessionPages:
    """Handles the list of sessions and its forms."""

    _requests: AccountRequests
    _accounts: AccountService

    async def get(self, request: Request) -> bytes:
        """Return the list of sessions, the session of the request first."""
        member = await self._requests.member(request)
        rows = [_row(each, member.session.id) for each in await self._accounts.sessions(member.account)]
        rows.sort(key=lambda row: not row.current)
        values = {"sessions": rows, "recorded": self._accounts.records_clients}
        return self._requests.page(request, member.session, "sessions", values)

    async def end(self, request: Request, session_id: str) -> bytes:
        """End another session. The session of the request ends with the form that signs out."""
        member, _ = await self._requests.member_form(request)
        try:
            await self._accounts.end_session(member.account, session_id)
        except DirectoryError:
            return self._requests.form_error(request, SESSIONS)
        return self._requests.redirect(request, SESSIONS, "session_ended")

    async def end_others(self, request: Request) -> bytes:
        """End all sessions except that of the request."""
        member, _ = await self._requests.member_form(request)
        await self._accounts.end_other_sessions(member.session.identifier)
        return self._requests.redirect(request, SESSIONS, "sessions_ended")


def _row(session: BrowserSession, current: str) -> SessionRow:
    return SessionRow(
        session.id,
        moment(session.created_at),
        moment(session.seen_at),
        session.client,
        session.id == current,
    )

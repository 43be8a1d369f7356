"""The Sessions in memory."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence

from attrs import frozen

from ..domain.accounts import MAX_SESSIONS, Account, BrowserSession, id_of_digest, unknown_session
from ..domain.clients import UNKNOWN, Client
from ..domain.keys import digest, new_token
from ._access import AccessData, SessionRow


@frozen
class MemorySessions:
    """Sessions, which end `idle` seconds after their last use and `absolute` seconds after their start."""

    _data: AccessData
    _now: Callable[[], float]
    _idle: float
    _absolute: float

    async def open(self, account_id: str, client: Client = UNKNOWN) -> str:
        token, now, sessions = new_token(), self._now(), self._data.sessions
        for surplus in self._last_used_first(account_id)[MAX_SESSIONS - 1 :]:
            del sessions[surplus]
        sessions[digest(token)] = SessionRow(account_id, now, now, client)
        self._data.accounts[account_id].seen_at = now
        return token

    async def find(self, token: str, client: Client = UNKNOWN) -> Account | None:
        now, session = self._now(), self._data.sessions.get(digest(token))
        if session is None or not self._is_open(session):
            return None
        row = self._data.accounts[session.account_id]
        if row.disabled_at is not None:
            return None
        session.seen_at = row.seen_at = now
        session.client = client
        return row.account

    async def list(self, account_id: str) -> Sequence[BrowserSession]:
        rows = [(key, self._data.sessions[key]) for key in self._last_used_first(account_id)]
        return [
            BrowserSession(id_of_digest(key), row.created_at, row.seen_at, row.client)
            for key, row in rows
            if self._is_open(row)
        ]

    async def end(self, account_id: str, session_id: str) -> None:
        for key in self._last_used_first(account_id):
            if id_of_digest(key) == session_id:
                del self._data.sessions[key]
                return
        raise unknown_session()

    async def end_others(self, token: str) -> None:
        if own := self._data.sessions.get(digest(token)):
            for key in self._last_used_first(own.account_id):
                if key != digest(token):
                    del self._data.sessions[key]

    async def close(self, token: str) -> None:
        self._data.sessions.pop(digest(token), None)

    def _is_open(self, row: SessionRow) -> bool:
        now = self._now()
        return row.seen_at > now - self._idle and row.created_at > now - self._absolute

    def _last_used_first(self, account_id: str) -> builtins.list[bytes]:
        """Return the digests of the sessions of an account."""
        found = [(row.seen_at, row.created_at, key) for key, row in self._data.sessions.items()]
        return [key for *_, key in sorted(found, reverse=True) if self._data.sessions[key].account_id == account_id]

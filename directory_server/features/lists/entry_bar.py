"""The bar on the page of an entry: on which lists it is, and what the viewer can do about that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from ...domain.accounts import Account
from ...domain.requests import State
from ...http import Request
from ...web.account import SessionCookies
from .pages import Stored
from .requests import VERSION

STATES: Mapping[State, str] = {"open": "pending", "asked": "pending", "declined": "declined"}


@frozen
class ListBar:
    """A line for each list that the viewer sees: whether the entry is on it, or waits; operators add and remove it."""

    _stored: Stored
    _cookies: SessionCookies

    async def read(self, request: Request, viewer: Account | None, name: str) -> Mapping[str, Any] | None:
        """Return the values of the bar; None if there is no line."""
        session = await self._cookies.load(request) if viewer is not None and viewer.is_operator else None
        scopes = self._stored.scopes
        if scopes is None and session is None:
            return None
        lists = [entry_list for entry_list in await self._stored.lists.all() if not entry_list.is_all]
        if scopes is not None and session is None:
            names = await scopes.names("" if viewer is None else viewer.id)
            lists = [entry_list for entry_list in lists if entry_list.name in names]
        if not lists:
            return None
        shown = [entry_list.name for entry_list in lists]
        listed, last = await self._stored.requests.listed(name, shown), await self._stored.requests.states(name, shown)
        picks = {} if session is None else await self._stored.lists.picks(shown)
        open_for = frozenset() if scopes is None or viewer is None else await self._stored.approvers.lists()
        rows = []
        for entry_list in lists:
            asked = last.get(entry_list.name)
            state = "listed" if entry_list.name in listed else "" if asked is None else STATES.get(asked.state, "")
            if state == "pending" and asked is not None and asked.kind == VERSION.name:
                state = "version"
            is_picked = name in picks.get(entry_list.name, ())
            action = "" if session is None else "unpick" if is_picked else "" if state == "listed" else "pick"
            can_ask = not action and state in ("", "declined") and entry_list.name in open_for
            if state or can_ask or action:
                rows.append((entry_list, state, can_ask, action))
        return {"rows": rows, "name": name, "csrf": session.csrf if session else ""} if rows else None

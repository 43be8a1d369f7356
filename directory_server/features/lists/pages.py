"""Lists of the reader: her page of lists, the bar on entries, and what the views of entries say of approvals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve, frozen

from ... import serialization
from ...domain.accounts import Account
from ...domain.requests import MAX_TEXT, State
from ...feature.server import Server
from ...http import Request
from ...web.account import AccountRequests, Sent, SessionCookies, page
from ...web.routes import App
from .approvers import Approvers
from .requests import VERSION, ListRequests
from .rules import EntryList
from .scopes import ReaderScopes
from .tables import Lists

OWN = "/account/lists"


@frozen
class Stored:
    """What is stored of lists. `scopes` decide what members see; None while all readers see all entries."""

    lists: Lists
    approvers: Approvers
    requests: ListRequests
    scopes: ReaderScopes | None

    async def titles(self) -> Mapping[str, str]:
        """Return the titles of all lists by their names."""
        return {entry_list.name: entry_list.title for entry_list in await self.lists.all()}

    async def requestable(self, account: Account) -> Sequence[EntryList]:
        """Return the lists on which an account may want entries: those that it sees and that have approvers.

        None for an account that is not approved: with open registration anybody would write to approvers.
        """
        if self.scopes is None or not account.approved:
            return []
        names = (await self.approvers.lists()).intersection(await self.scopes.names(account.id))
        return [entry_list for entry_list in await self.lists.all() if entry_list.name in names]


@frozen
class OwnLists:
    """Handles `/account/lists`: the lists that a member sees, and their addresses."""

    app = App()

    _requests: AccountRequests
    _stored: Stored

    @app.get(OWN)
    @page("own")
    async def get(self, sent: Sent) -> Mapping[str, Any]:
        scopes = self._stored.scopes
        names = await scopes.names(sent.member.account.id) if scopes is not None else ()
        shown = (
            [entry_list for entry_list in await self._stored.lists.all() if entry_list.name in names] if names else []
        )
        base_url = self._requests.base_url(sent.request)
        return {"lists": shown, "is_on": scopes is not None, "base_url": base_url}


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


CANDIDATES, MAX_SHOWN = 30, 6
"""Hits of a search in all entries, and those outside of the lists of a member that the page shows."""


@frozen
class NeedsApproval:
    """The entries that match a search and are outside of the lists of the viewer, each with the form to request it."""

    _stored: Stored
    _server: Server

    async def read(self, request: Request, viewer: Account | None, keywords: str) -> Mapping[str, Any] | None:
        """Return the values of the part; None if there are no such entries, and for an account that is not approved.

        With open registration anybody may have such an account.
        """
        session = await self._server.operators.cookies.load(request) if viewer is not None else None
        if viewer is None or not viewer.approved or session is None or self._stored.scopes is None:
            return None
        scope, every = await self._stored.scopes.of(viewer.id), self._server.directory
        if scope is None:
            return None
        page = await every.search(
            evolve(serialization.search_query(keywords, CANDIDATES), browse=True), ("pages", viewer.id)
        )
        ids = [hit.mcp_id for hit in page.hits]
        inside = {entry.mcp_id for entry in await every.within(scope).store.entries(ids)}
        outside = [entry for entry in await every.store.entries(ids) if entry.mcp_id not in inside][:MAX_SHOWN]
        # The lists that ask for approval: those that accept requests.
        lists = await self._stored.requestable(viewer)
        names = [entry_list.name for entry_list in lists]
        rows = []
        for entry in outside:
            states = {
                name: STATES.get(asked.state, "")
                for name, asked in (await self._stored.requests.states(entry.name, names)).items()
            }
            waiting = "pending" if "pending" in states.values() else "declined" if "declined" in states.values() else ""
            open_lists = [entry_list for entry_list in lists if states.get(entry_list.name) != "pending"]
            rows.append((await every.detail_of(entry), entry, waiting, open_lists))
        return {"rows": rows, "csrf": session.csrf, "longest": MAX_TEXT} if rows else None

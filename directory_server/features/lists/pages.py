"""The page of a member with her lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from ...domain.accounts import Account
from ...web.account import AccountRequests, Sent, page
from ...web.routes import App
from .approvers import Approvers
from .request_tables import ListRequests
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
        """Return the lists on which an account may want entries: those that it sees and that have approvers."""
        if self.scopes is None:
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
        """Return the page."""
        scopes = self._stored.scopes
        names = await scopes.names(sent.member.account.id) if scopes is not None else ()
        shown = (
            [entry_list for entry_list in await self._stored.lists.all() if entry_list.name in names] if names else []
        )
        base_url = self._requests.base_url(sent.request)
        return {"lists": shown, "is_on": scopes is not None, "base_url": base_url}

"""The web part of lists: handlers and tabs."""

from __future__ import annotations

from typing import Any

from ...web.account import AccountRequests
from ...web.operator_requests import Notice
from ...web.pages import EntryBar, Extension
from ...web.parts import Endpoints, Kernel, WebPart
from .approvers import Approvers
from .groups import Groups
from .notices import REQUESTS, mails_of
from .pages import LISTS, OWN, ListPages, OwnLists, Stored
from .request_pages import RequestBar, RequestPages
from .request_tables import ListRequests
from .scopes import ReaderScopes
from .settings import ListsConfig
from .tables import Lists

NAME = "lists"


def _serve(kernel: Kernel) -> Endpoints:
    is_on, storage = kernel.config.of(ListsConfig).enabled, kernel.storage
    scopes = ReaderScopes(storage.tables, kernel.now) if is_on else None
    stored = Stored(Lists(storage.tables), Approvers(storage.tables, storage), ListRequests(storage.tables), scopes)
    members = AccountRequests(kernel.operators.cookies, kernel.layout, NAME)
    mails = mails_of(kernel.config, storage, stored.approvers, kernel.reactor, kernel.now)
    return Endpoints(
        [
            ListPages(kernel.operators.of_folder(NAME), kernel, stored, Groups(storage.tables)).app,
            OwnLists(members, stored).app,
            RequestPages(members, kernel, stored, mails).app,
        ],
        entry_bars=[EntryBar(f"{NAME}/entry.html", RequestBar(stored).read)],
    )


async def _open_requests(storage: Any) -> Notice | None:
    count = await ListRequests(storage.tables).count()
    return Notice(REQUESTS, f"{NAME}.open_requests", count) if count else None


PART = WebPart(
    extension=Extension(
        NAME,
        "directory_server.features.lists",
        tabs=(("rules", LISTS, f"{NAME}.tab"),),
        account_tabs=((OWN, f"{NAME}.tab"), (REQUESTS, f"{NAME}.requests")),
    ),
    notices=(_open_requests,),
    serve=_serve,
)

"""The web part of lists: routes, handlers and tabs."""

from __future__ import annotations

from typing import Any

from ...web.account import AccountRequests
from ...web.operator_requests import Notice
from ...web.pages import EntryBar, Extension
from ...web.parts import Endpoints, Kernel, WebPart
from ...web.routes import PAGES, Route
from .approvers import Approvers
from .groups import Groups
from .notices import REQUESTS, mails_of
from .pages import GROUP, GROUPS, LIST, LISTS, OWN, ListPages, OwnLists, Stored
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
        {
            NAME: ListPages(kernel.operators.of_folder(NAME), kernel, stored, Groups(storage.tables)),
            "own_lists": OwnLists(members, stored),
            "list_requests": RequestPages(members, kernel, stored, mails),
        },
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
    routes=(
        Route(LISTS, "GET", PAGES, "lists.get"),
        Route(LISTS, "POST", PAGES, "lists.post"),
        Route(LIST, "GET", PAGES, "lists.get_one"),
        Route(LIST, "POST", PAGES, "lists.save"),
        Route(f"{LIST}/pick", "POST", PAGES, "lists.pick"),
        Route(f"{LIST}/unpick", "POST", PAGES, "lists.unpick"),
        Route(f"{LIST}/remove", "GET", PAGES, "lists.get_remove"),
        Route(f"{LIST}/remove", "POST", PAGES, "lists.remove"),
        Route(GROUPS, "POST", PAGES, "lists.post_group"),
        Route(GROUP, "GET", PAGES, "lists.get_group"),
        Route(f"{GROUP}/remove", "GET", PAGES, "lists.get_remove_group"),
        Route(f"{GROUP}/remove", "POST", PAGES, "lists.remove_group"),
        Route(f"{GROUP}/{{action}}", "POST", PAGES, "lists.change_group"),
        Route(OWN, "GET", PAGES, "own_lists.get"),
        Route(REQUESTS, "GET", PAGES, "list_requests.get"),
        Route(REQUESTS, "POST", PAGES, "list_requests.post"),
        Route(f"{REQUESTS}/{{request_id}}", "GET", PAGES, "list_requests.get_one"),
        Route(f"{REQUESTS}/{{request_id}}/{{action}}", "POST", PAGES, "list_requests.change"),
    ),
    notices=(_open_requests,),
    serve=_serve,
)

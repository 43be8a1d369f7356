"""The web part of lists: routes, handlers and tabs."""

from __future__ import annotations

from ...web.account import AccountRequests
from ...web.pages import Extension
from ...web.parts import Endpoints, Kernel, WebPart
from ...web.routes import PAGES, Route
from .groups import Groups
from .pages import GROUPS, LISTS, OWN, ListPages, OwnLists
from .scopes import ReaderScopes
from .settings import ListsConfig
from .tables import Lists

NAME = "lists"

_LIST, _GROUP = f"{LISTS}/{{name}}", f"{GROUPS}/{{name}}"


def _serve(kernel: Kernel) -> Endpoints:
    lists, is_on = Lists(kernel.storage.tables), kernel.config.of(ListsConfig).enabled
    members = AccountRequests(kernel.operators.cookies, kernel.layout, NAME)
    return Endpoints(
        {
            NAME: ListPages(
                kernel.operators.of_folder(NAME),
                lists,
                Groups(kernel.storage.tables),
                kernel.storage,
                kernel.now,
                kernel.bus.announce,
                is_on,
            ),
            "own_lists": OwnLists(members, lists, ReaderScopes(kernel.storage.tables) if is_on else None),
        }
    )


PART = WebPart(
    extension=Extension(
        NAME,
        "directory_server.features.lists",
        tabs=((LISTS, f"{NAME}.tab"),),
        account_tabs=((OWN, f"{NAME}.tab"),),
    ),
    routes=(
        Route(LISTS, "GET", PAGES, "lists.get"),
        Route(LISTS, "POST", PAGES, "lists.post"),
        Route(_LIST, "GET", PAGES, "lists.get_one"),
        Route(_LIST, "POST", PAGES, "lists.save"),
        Route(f"{_LIST}/pick", "POST", PAGES, "lists.pick"),
        Route(f"{_LIST}/unpick", "POST", PAGES, "lists.unpick"),
        Route(f"{_LIST}/remove", "GET", PAGES, "lists.get_remove"),
        Route(f"{_LIST}/remove", "POST", PAGES, "lists.remove"),
        Route(GROUPS, "POST", PAGES, "lists.post_group"),
        Route(_GROUP, "GET", PAGES, "lists.get_group"),
        Route(f"{_GROUP}/remove", "GET", PAGES, "lists.get_remove_group"),
        Route(f"{_GROUP}/remove", "POST", PAGES, "lists.remove_group"),
        Route(f"{_GROUP}/{{action}}", "POST", PAGES, "lists.change_group"),
        Route(OWN, "GET", PAGES, "own_lists.get"),
    ),
    serve=_serve,
)

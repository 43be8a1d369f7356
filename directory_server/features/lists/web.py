"""The web part of lists: handlers and tabs."""

from __future__ import annotations

from ...domain.ports.requests import MAIL
from ...feature.parts import WebPart
from ...feature.server import Server
from ...tables import Storage
from ...web.account import AccountRequests
from ...web.operator_requests import NOTICES, Notice
from ...web.pages import ENTRY_BARS, RESULT_PARTS, EntryBar, Extension
from ...web.routes import APPS
from .approvers import Approvers
from .catalogue import NeedsApproval
from .entry_bar import ListBar
from .notices import REQUESTS, RequestMails
from .pages import OWN, OwnLists, Stored
from .request_pages import RequestPages
from .request_tables import ListRequests
from .scopes import ReaderScopes
from .settings import ListsConfig
from .tables import Lists

NAME = "lists"


def _serve(server: Server) -> None:
    is_on, storage = server.config.of(ListsConfig).enabled, server.storage
    scopes = ReaderScopes(storage.tables, server.now) if is_on else None
    stored = Stored(Lists(storage.tables), Approvers(storage.tables, storage), ListRequests(storage.tables), scopes)
    members = AccountRequests(server.operators.cookies, server.layout, NAME)
    mails = RequestMails(storage, stored.approvers, server.get(MAIL))
    server.add(
        APPS,
        OwnLists(members, stored).app,
        RequestPages(members, server, stored, mails).app,
    )
    server.add(ENTRY_BARS, EntryBar(f"{NAME}/entry.html", ListBar(stored, server.operators.cookies).read))
    if server.config.of(ListsConfig).catalogue:
        server.add(RESULT_PARTS, EntryBar(f"{NAME}/outside.html", NeedsApproval(stored, server).read))
    server.add(NOTICES, _open_requests)


async def _open_requests(storage: Storage) -> Notice | None:
    count = await ListRequests(storage.tables).count()
    return Notice(REQUESTS, f"{NAME}.open_requests", count) if count else None


PART = WebPart(
    extension=Extension(
        NAME,
        "directory_server.features.lists",
        account_tabs=((OWN, f"{NAME}.tab"), (REQUESTS, f"{NAME}.requests")),
    ),
    serve=_serve,
)

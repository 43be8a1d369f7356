"""The web part of quota requests: routes, handlers, tabs and notice."""

from __future__ import annotations

from typing import Any

from ...web.account import AccountRequests
from ...web.operator_requests import Notice
from ...web.pages import Extension
from ...web.parts import Endpoints, Kernel, WebPart
from ...web.routes import PAGES, Route
from .member_pages import QUOTA, MemberPages
from .operator_pages import REQUESTS, OperatorPages
from .tables import QuotaRequests

NAME = "quota_requests"


def _serve(kernel: Kernel) -> Endpoints:
    storage, limit = kernel.storage, kernel.config.quota.limit
    requests = QuotaRequests(storage.tables)
    members = AccountRequests(kernel.operators.cookies, kernel.layout, NAME)
    return Endpoints(
        {
            "quota": MemberPages(members, requests, storage.attempts, kernel.now, limit),
            "quota_requests": OperatorPages(
                kernel.operators.of_folder(NAME), requests, storage.accounts, storage, kernel.now, limit
            ),
        }
    )


async def _open_requests(storage: Any) -> Notice | None:
    count = await QuotaRequests(storage.tables).count()
    return Notice(REQUESTS, f"{NAME}.open", count) if count else None


PART = WebPart(
    routes=(
        Route(QUOTA, "GET", PAGES, "quota.get"),
        Route(QUOTA, "POST", PAGES, "quota.post"),
        Route(REQUESTS, "GET", PAGES, "quota_requests.get"),
        Route(f"{REQUESTS}/{{account_id}}/grant", "POST", PAGES, "quota_requests.grant"),
        Route(f"{REQUESTS}/{{account_id}}/decline", "POST", PAGES, "quota_requests.decline"),
    ),
    serve=_serve,
    extension=Extension(
        NAME,
        "directory_server.features.quota_requests",
        tabs=((REQUESTS, f"{NAME}.tab"),),
        account_tabs=((QUOTA, f"{NAME}.quota"),),
    ),
    notices=(_open_requests,),
)

"""The web part of the operator pages: routes, handlers and tabs."""

from __future__ import annotations

from ...storage import place
from ...web.operator_requests import ADMIN
from ...web.pages import Extension, KeyPartValues, read_key_parts
from ...web.parts import Endpoints, Kernel, WebPart
from ...web.routes import PAGES, Route
from .account_pages import ACCOUNTS, AccountPages
from .key_pages import KEYS, KeyPages
from .server_pages import UPSTREAMS, ServerPages

NAME = "operators"


def _serve(kernel: Kernel) -> Endpoints:
    requests, storage, now = kernel.operators.of_folder(NAME), kernel.storage, kernel.now

    async def read_parts(key_id: str) -> KeyPartValues:
        return await read_key_parts(kernel.key_parts, storage, now(), [key_id])

    server = ServerPages(
        requests,
        started_at=now(),
        numbers=kernel.numbers,
        place=place(kernel.config),
        upstreams=kernel.upstreams,
        storage=storage,
        notices=kernel.notices,
        now=now,
    )
    return Endpoints(
        {
            "operator_server": server,
            "operator_accounts": AccountPages(
                requests,
                accounts=storage.accounts,
                roster=storage.roster,
                now=now,
                limit=kernel.config.quota.limit,
                lifetime=kernel.config.accounts.link,
            ),
            "operator_keys": KeyPages(
                requests,
                keys=storage.keys,
                roster=storage.roster,
                quota=storage.quota,
                now=now,
                read_parts=read_parts,
            ),
        }
    )


PART = WebPart(
    routes=(
        Route(ADMIN, "GET", PAGES, "operator_server.get"),
        Route(UPSTREAMS, "GET", PAGES, "operator_server.get_upstreams"),
        Route(f"{UPSTREAMS}/sync", "POST", PAGES, "operator_server.sync"),
        Route(ACCOUNTS, "GET", PAGES, "operator_accounts.get"),
        Route(ACCOUNTS, "POST", PAGES, "operator_accounts.invite"),
        Route(f"{ACCOUNTS}/{{account_id}}", "GET", PAGES, "operator_accounts.get_one"),
        Route(f"{ACCOUNTS}/{{account_id}}/link", "POST", PAGES, "operator_accounts.create_link"),
        Route(f"{ACCOUNTS}/{{account_id}}/approve", "POST", PAGES, "operator_accounts.approve"),
        Route(f"{ACCOUNTS}/{{account_id}}/limit", "POST", PAGES, "operator_accounts.set_limit"),
        Route(f"{ACCOUNTS}/{{account_id}}/role", "POST", PAGES, "operator_accounts.set_role"),
        Route(f"{ACCOUNTS}/{{account_id}}/disable", "GET", PAGES, "operator_accounts.get_disable"),
        Route(f"{ACCOUNTS}/{{account_id}}/disable", "POST", PAGES, "operator_accounts.disable"),
        Route(f"{ACCOUNTS}/{{account_id}}/enable", "POST", PAGES, "operator_accounts.enable"),
        Route(KEYS, "GET", PAGES, "operator_keys.get"),
        Route(f"{KEYS}/{{key_id}}", "GET", PAGES, "operator_keys.get_one"),
        Route(f"{KEYS}/{{key_id}}/limit", "POST", PAGES, "operator_keys.set_limit"),
        Route(f"{KEYS}/{{key_id}}/revoke", "GET", PAGES, "operator_keys.get_revoke"),
        Route(f"{KEYS}/{{key_id}}/revoke", "POST", PAGES, "operator_keys.revoke"),
    ),
    serve=_serve,
    extension=Extension(
        NAME,
        "directory_server.features.operators",
        tabs=(
            (ADMIN, f"{NAME}.overview"),
            (ACCOUNTS, f"{NAME}.accounts"),
            (KEYS, f"{NAME}.keys"),
            (UPSTREAMS, f"{NAME}.upstreams"),
        ),
    ),
)

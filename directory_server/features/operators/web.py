"""The web part of the operator pages: routes, handlers and tabs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from ... import __version__
from ...domain.roster import MAX_COUNTED
from ...storage import place
from ...web.account import Next, Sent, form, page
from ...web.operator_requests import ADMIN, OperatorRequests
from ...web.pages import Extension
from ...web.parts import Endpoints, Kernel, WebPart
from ...web.routes import PAGES, Route
from .account_pages import ACCOUNT, ACCOUNTS, AccountPages
from .key_pages import KEY, KEYS, KeyPages

UPSTREAMS = f"{ADMIN}/upstreams"

MAX_ERROR = 300
"""Characters of the error of a sync run."""


@frozen
class ServerPages:
    """Handles the overview and the list of upstreams.

    The process started at `_started_at`, in seconds since the epoch. `_place` is the data directory or the database,
    without secrets.
    """

    _requests: OperatorRequests
    _started_at: float
    _kernel: Kernel
    _place: str

    @page("overview")
    async def get(self, sent: Sent) -> Mapping[str, Any]:
        """Return the overview."""
        minutes = max(0, int(self._kernel.now() - self._started_at)) // 60
        return {
            "version": __version__,
            "started": self._started_at,
            "days": minutes // 1440,
            "hours": minutes // 60 % 24,
            "minutes": minutes % 60,
            "storage": self._place,
            "numbers": self._kernel.numbers(),
            "counts": await self._kernel.storage.roster.counts(MAX_COUNTED),
            "most": MAX_COUNTED,
            "notices": [
                notice for read in self._kernel.notices if (notice := await read(self._kernel.storage)) is not None
            ],
            "failing": [upstream.state for upstream in self._kernel.upstreams if upstream.state.error],
            "max_error": MAX_ERROR,
        }

    @page("upstreams")
    async def get_upstreams(self, sent: Sent) -> Mapping[str, Any]:
        """Return the list of upstreams."""
        names = [upstream.state.name for upstream in self._kernel.upstreams]
        runs = {name: await self._kernel.storage.mirrors.runs(name) for name in names}
        return {"upstreams": self._kernel.upstreams, "runs": runs, "max_error": MAX_ERROR}

    @form(UPSTREAMS)
    async def sync(self, sent: Sent) -> Next:
        """Start a sync run of an upstream, and go to the list."""
        found = [upstream for upstream in self._kernel.upstreams if upstream.state.name == sent.fields.get("name")]
        if not found:
            return Next(UPSTREAMS, "upstream_unknown")
        return Next(UPSTREAMS, "sync_started" if found[0].sync_now() else "sync_running")


NAME = "operators"


def _serve(kernel: Kernel) -> Endpoints:
    requests = kernel.operators.of_folder(NAME)
    return Endpoints(
        {
            "operator_server": ServerPages(requests, kernel.now(), kernel, place(kernel.config)),
            "operator_accounts": AccountPages(requests, kernel),
            "operator_keys": KeyPages(requests, kernel),
        }
    )


PART = WebPart(
    routes=(
        Route(ADMIN, "GET", PAGES, "operator_server.get"),
        Route(UPSTREAMS, "GET", PAGES, "operator_server.get_upstreams"),
        Route(f"{UPSTREAMS}/sync", "POST", PAGES, "operator_server.sync"),
        Route(ACCOUNTS, "GET", PAGES, "operator_accounts.get"),
        Route(ACCOUNTS, "POST", PAGES, "operator_accounts.invite"),
        Route(ACCOUNT, "GET", PAGES, "operator_accounts.get_one"),
        Route(f"{ACCOUNT}/link", "POST", PAGES, "operator_accounts.create_link"),
        Route(f"{ACCOUNT}/approve", "POST", PAGES, "operator_accounts.approve"),
        Route(f"{ACCOUNT}/limit", "POST", PAGES, "operator_accounts.set_limit"),
        Route(f"{ACCOUNT}/role", "POST", PAGES, "operator_accounts.set_role"),
        Route(f"{ACCOUNT}/disable", "GET", PAGES, "operator_accounts.get_disable"),
        Route(f"{ACCOUNT}/disable", "POST", PAGES, "operator_accounts.disable"),
        Route(f"{ACCOUNT}/enable", "POST", PAGES, "operator_accounts.enable"),
        Route(KEYS, "GET", PAGES, "operator_keys.get"),
        Route(KEY, "GET", PAGES, "operator_keys.get_one"),
        Route(f"{KEY}/limit", "POST", PAGES, "operator_keys.set_limit"),
        Route(f"{KEY}/revoke", "GET", PAGES, "operator_keys.get_revoke"),
        Route(f"{KEY}/revoke", "POST", PAGES, "operator_keys.revoke"),
    ),
    serve=_serve,
    extension=Extension(
        NAME,
        "directory_server.features.operators",
        tabs=(
            ("server", ADMIN, f"{NAME}.overview"),
            ("access", ACCOUNTS, f"{NAME}.accounts"),
            ("access", KEYS, f"{NAME}.keys"),
            ("server", UPSTREAMS, f"{NAME}.upstreams"),
        ),
    ),
)

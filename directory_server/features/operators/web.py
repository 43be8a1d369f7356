"""The web part of the operator pages: routes, handlers and tabs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import frozen

from ... import __version__
from ...domain.roster import MAX_COUNTED
from ...http import Request
from ...storage import place
from ...web.operator_requests import ADMIN, OperatorRequests, ReadNotice
from ...web.pages import Extension, KeyPartValues, read_key_parts
from ...web.parts import Endpoints, Kernel, Upstream, WebPart
from ...web.routes import PAGES, Route
from .account_pages import ACCOUNTS, AccountPages
from .key_pages import KEYS, KeyPages

UPSTREAMS = f"{ADMIN}/upstreams"

MAX_ERROR = 300
"""Characters of the error of a sync run."""


@frozen
class ServerPages:
    """Handles the overview and the list of upstreams.

    The process started at `_started_at`, in seconds since the epoch. `_numbers` returns numbers by the key of their
    text: entries, streams and so on. `_place` is the data directory or the database, without secrets. `_storage` has
    the adapters of all ports.
    """

    _requests: OperatorRequests
    _started_at: float
    _numbers: Callable[[], Mapping[str, int]]
    _place: str
    _upstreams: Sequence[Upstream]
    _storage: Any
    _notices: Sequence[ReadNotice]
    _now: Callable[[], float]

    async def get(self, request: Request) -> bytes:
        """Return the overview."""
        member = await self._requests.member(request)
        minutes = max(0, int(self._now() - self._started_at)) // 60
        values = {
            "version": __version__,
            "started": self._started_at,
            "days": minutes // 1440,
            "hours": minutes // 60 % 24,
            "minutes": minutes % 60,
            "storage": self._place,
            "numbers": self._numbers(),
            "counts": await self._storage.roster.counts(MAX_COUNTED),
            "most": MAX_COUNTED,
            "notices": [notice for read in self._notices if (notice := await read(self._storage)) is not None],
            "failing": [upstream.state for upstream in self._upstreams if upstream.state.error],
            "max_error": MAX_ERROR,
        }
        return self._requests.page(request, member.session, "overview", values)

    async def get_upstreams(self, request: Request) -> bytes:
        """Return the list of upstreams."""
        member = await self._requests.member(request)
        upstreams = self._upstreams
        runs = {
            name: await self._storage.mirrors.runs(name) for name in (upstream.state.name for upstream in upstreams)
        }
        values = {"upstreams": upstreams, "runs": runs, "max_error": MAX_ERROR}
        return self._requests.page(request, member.session, "upstreams", values)

    async def sync(self, request: Request) -> bytes:
        """Start a sync run of an upstream, and redirect to the list."""
        _, form = await self._requests.member_form(request)
        found = [upstream for upstream in self._upstreams if upstream.state.name == form.get("name")]
        if not found:
            return self._requests.redirect(request, UPSTREAMS, "upstream_unknown")
        is_started = found[0].sync_now()
        return self._requests.redirect(request, UPSTREAMS, "sync_started" if is_started else "sync_running")


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
            ("server", ADMIN, f"{NAME}.overview"),
            ("access", ACCOUNTS, f"{NAME}.accounts"),
            ("access", KEYS, f"{NAME}.keys"),
            ("server", UPSTREAMS, f"{NAME}.upstreams"),
        ),
    ),
)

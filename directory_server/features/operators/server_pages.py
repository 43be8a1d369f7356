"""Operator pages of the server: the overview, and the upstreams with their last sync runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import frozen

from ... import __version__
from ...domain.roster import MAX_COUNTED
from ...http import Request
from ...web.operator_requests import ADMIN, OperatorRequests, ReadNotice
from ...web.parts import Upstream

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

"""Operator pages of the server: the overview, and the upstreams with their last sync runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from attrs import frozen

from ... import __version__
from ...domain.ports.roster import Roster
from ...domain.ports.storage import Mirrors
from ...domain.roster import MAX_COUNTED
from ...domain.upstreams import UpstreamState
from ...http import Request
from ._requests import ADMIN, OperatorRequests

UPSTREAMS = f"{ADMIN}/upstreams"

MAX_ERROR = 300
"""Characters of the error of a sync run."""


class Upstream(Protocol):
    """An upstream that this process follows."""

    @property
    def state(self) -> UpstreamState:
        """The state of the upstream at the last check."""

    @property
    def is_syncing(self) -> bool:
        """Whether this process runs a sync run."""

    def sync_now(self) -> bool:
        """Start a sync run; return whether one was started."""


@frozen
class Server:
    """Values of this process on the overview.

    `started_at` is in seconds since the epoch. `numbers` returns numbers by the key of their text: entries, streams and
    so on. `storage` is the data directory or the database, without secrets.
    """

    started_at: float
    numbers: Callable[[], Mapping[str, int]]
    storage: str
    upstreams: Sequence[Upstream] = ()


@frozen
class Notice:
    """A line above the overview: a link, the key of its text, and the number in it."""

    href: str
    text: str
    count: int


ReadNotice = Callable[[], Awaitable[Notice | None]]
"""Returns a notice of a feature, None if there is nothing to say."""


@frozen
class ServerPages:
    """Handles the overview and the list of upstreams."""

    _requests: OperatorRequests
    _server: Server
    _roster: Roster
    _mirrors: Mirrors
    _now: Callable[[], float]
    _notices: Sequence[ReadNotice]

    async def get(self, request: Request) -> bytes:
        """Return the overview."""
        member = await self._requests.member(request)
        minutes = max(0, int(self._now() - self._server.started_at)) // 60
        values = {
            "version": __version__,
            "started": self._server.started_at,
            "days": minutes // 1440,
            "hours": minutes // 60 % 24,
            "minutes": minutes % 60,
            "storage": self._server.storage,
            "numbers": self._server.numbers(),
            "counts": await self._roster.counts(MAX_COUNTED),
            "most": MAX_COUNTED,
            "notices": [notice for read in self._notices if (notice := await read()) is not None],
            "failing": [upstream.state for upstream in self._server.upstreams if upstream.state.error],
            "max_error": MAX_ERROR,
        }
        return self._requests.page(request, member.session, "overview", values)

    async def get_upstreams(self, request: Request) -> bytes:
        """Return the list of upstreams."""
        member = await self._requests.member(request)
        upstreams = self._server.upstreams
        runs = {name: await self._mirrors.runs(name) for name in (upstream.state.name for upstream in upstreams)}
        values = {"upstreams": upstreams, "runs": runs, "max_error": MAX_ERROR}
        return self._requests.page(request, member.session, "upstreams", values)

    async def sync(self, request: Request) -> bytes:
        """Start a sync run of an upstream, and redirect to the list."""
        _, form = await self._requests.member_form(request)
        found = [upstream for upstream in self._server.upstreams if upstream.state.name == form.get("name")]
        if not found:
            return self._requests.redirect(request, UPSTREAMS, "upstream_unknown")
        is_started = found[0].sync_now()
        return self._requests.redirect(request, UPSTREAMS, "sync_started" if is_started else "sync_running")

"""The web part of the operator pages: handlers and tabs."""

from __future__ import annotations

from collections.abc import Mapping
from shutil import disk_usage
from typing import Any

from attrs import frozen

from ... import __version__
from ...config import Config
from ...domain.roster import MAX_COUNTED
from ...domain.work import BACKUP, sync_of
from ...feature import parts
from ...feature.parts import WebPart
from ...feature.server import Server
from ...storage import place
from ...web.account import Next, Sent, form, page
from ...web.operator_requests import ADMIN, NOTICES, OperatorRequests
from ...web.pages import Extension
from ...web.routes import APPS, App

UPSTREAMS = f"{ADMIN}/upstreams"

MAX_ERROR = 300
"""Characters of the error of a sync run."""


@frozen
class ServerPages:
    """Handles the overview and the list of upstreams.

    The process started at `_started_at`, in seconds since the epoch. `_place` is the data directory or the database,
    without secrets.
    """

    app = App()

    _requests: OperatorRequests
    _started_at: float
    _server: Server
    _place: str

    @app.get(ADMIN)
    @page("overview")
    async def get(self, sent: Sent) -> Mapping[str, Any]:
        """Return the overview."""
        now, work = self._server.now(), await self._server.storage.work.all()
        minutes = max(0, int(now - self._started_at)) // 60
        return {
            "version": __version__,
            "started": self._started_at,
            "days": minutes // 1440,
            "hours": minutes // 60 % 24,
            "minutes": minutes % 60,
            "storage": self._place,
            "numbers": self._server.get(parts.NUMBERS)(),
            "counts": await self._server.storage.roster.counts(MAX_COUNTED),
            "most": MAX_COUNTED,
            "notices": [
                notice for read in self._server.all(NOTICES) if (notice := await read(self._server.storage)) is not None
            ],
            "failing": [upstream.state for upstream in self._server.all(parts.UPSTREAMS) if upstream.state.error],
            "max_error": MAX_ERROR,
            "upstreams": [upstream.state for upstream in self._server.all(parts.UPSTREAMS)],
            "running": [row for row in work.values() if row.is_active(now)],
            "backup": work.get(BACKUP),
            "free": await self._server.offload(lambda: _free_bytes(self._server.config)),
        }

    @app.get(UPSTREAMS)
    @page("upstreams")
    async def get_upstreams(self, sent: Sent) -> Mapping[str, Any]:
        """Return the list of upstreams."""
        names = [upstream.state.name for upstream in self._server.all(parts.UPSTREAMS)]
        runs = {name: await self._server.storage.mirrors.runs(name) for name in names}
        work, now = await self._server.storage.work.all(), self._server.now()
        running = {name: row for name in names if (row := work.get(sync_of(name))) and row.is_active(now)}
        return {
            "upstreams": self._server.all(parts.UPSTREAMS),
            "runs": runs,
            "running": running,
            "max_error": MAX_ERROR,
        }

    @app.post(f"{UPSTREAMS}/sync")
    @form(UPSTREAMS)
    async def sync(self, sent: Sent) -> Next:
        """Start a sync run of an upstream, and go to the list."""
        found = [
            upstream for upstream in self._server.all(parts.UPSTREAMS) if upstream.state.name == sent.fields.get("name")
        ]
        if not found:
            return Next(UPSTREAMS, "upstream_unknown")
        return Next(UPSTREAMS, "sync_started" if found[0].sync_now() else "sync_running")


def _free_bytes(config: Config) -> int | None:
    """Return the free bytes of the disk of the data directory; None without one, or if they are unknown."""
    try:
        return None if config.database else disk_usage(config.data_dir).free
    except OSError:
        return None


NAME = "operators"


def _serve(server: Server) -> None:
    requests = server.operators.of_folder(NAME)
    server.add(APPS, ServerPages(requests, server.now(), server, place(server.config)).app)


PART = WebPart(
    serve=_serve,
    extension=Extension(
        NAME,
        "directory_server.features.operators",
        tabs=(
            ("server", ADMIN, f"{NAME}.overview"),
            ("server", UPSTREAMS, f"{NAME}.upstreams"),
        ),
    ),
)

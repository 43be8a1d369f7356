"""The web part of the operator pages: handlers and tabs."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from shutil import disk_usage
from typing import Any

from attrs import frozen
from twisted.application.service import Service
from twisted.logger import ILogObserver, LogEvent, LogLevel, formatEvent, globalLogPublisher
from zope.interface import implementer

from ... import __version__
from ...config import Config, ShownSetting, describe, endpoints
from ...domain.roster import MAX_COUNTED, RosterCounts
from ...domain.upstreams import FinishedRun
from ...domain.work import BACKUP, Work, sync_of
from ...feature import parts
from ...feature.parts import WebPart
from ...feature.server import SERVICES, Server
from ...runtime.files import read_regular_file
from ...storage import place
from ...texts.sanitize import clean_line
from ...web.account import Next, Sent, form, page
from ...web.operator_requests import ADMIN, NOTICES, OVERVIEW_PARTS, OperatorRequests
from ...web.routes import APPS, App

DAY = 86_400.0

MAX_ERRORS = 50
"""Errors in memory, the newest. Their texts have at most MAX_TEXT characters."""

MAX_TEXT = 300


@frozen
class LoggedError:
    """An error at a time in seconds since the epoch."""

    at: float
    text: str


@implementer(ILogObserver)
class RecentErrors(Service):
    """Collects the errors that this process logs while the service runs. `now` returns seconds since the epoch."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._errors: deque[LoggedError] = deque(maxlen=MAX_ERRORS)

    def startService(self) -> None:
        super().startService()
        globalLogPublisher.addObserver(self)

    def stopService(self) -> None:
        globalLogPublisher.removeObserver(self)
        super().stopService()

    def __call__(self, event: LogEvent) -> None:
        if event.get("log_level") in (LogLevel.error, LogLevel.critical):
            # An observer must not raise, and a traceback is in the log.
            text = formatEvent(event).strip().partition("\n")[0]
            self._errors.appendleft(LoggedError(self._now(), clean_line(text, MAX_TEXT)))

    def of_last_day(self) -> Sequence[LoggedError]:
        """Return the errors of the last 24 hours, the newest first."""
        return [error for error in self._errors if error.at > self._now() - DAY]


UPSTREAMS, SETTINGS = f"{ADMIN}/upstreams", f"{ADMIN}/settings"

BACKUP_AGE = 7 * 86_400.0
"""Seconds after which another backup is a next step."""

MAX_CERTIFICATE = 100_000
"""Bytes of the file of a certificate."""

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
    _errors: RecentErrors
    _open_settings: Sequence[Step]

    @app.get(ADMIN)
    @page("overview")
    async def get(self, sent: Sent) -> Mapping[str, Any]:
        storage, now = self._server.storage, self._server.now()
        work = await storage.work.all()
        counts, numbers = await storage.people.roster.counts(MAX_COUNTED), self._server.get(parts.NUMBERS)()
        return {
            "version": __version__,
            "started": self._started_at,
            "storage": self._place,
            "numbers": numbers,
            "steps": [*self._steps(counts, numbers, work.get(BACKUP)), *self._open_settings],
            "counts": counts,
            "most": MAX_COUNTED,
            "notices": [notice for read in self._server.all(NOTICES) if (notice := await read(storage)) is not None],
            "failing": [upstream.state for upstream in self._server.all(parts.UPSTREAMS) if upstream.state.error],
            "max_error": MAX_ERROR,
            "errors": self._errors.of_last_day(),
            "upstreams": [upstream.state for upstream in self._server.all(parts.UPSTREAMS)],
            "notes": {name: runs[0].note for name, runs in (await self._runs()).items() if runs},
            "running": [row for row in work.values() if row.is_active],
            "backup": work.get(BACKUP),
            "free": await self._server.offload(lambda: _free_bytes(self._server.config)),
            "certificate": await self._server.offload(lambda: _expiry(self._server.config)),
            "now": now,
            "overview_parts": [
                (part.template, values) for part in self._server.all(OVERVIEW_PARTS) if (values := await part.read())
            ],
        }

    def _steps(self, counts: RosterCounts, numbers: Mapping[str, int], backup: Work | None) -> Iterator[Step]:
        """Yield the next steps of a new directory that are not done."""
        if not numbers.get("entries"):
            yield Step("operators.step_entries", "/docs/operations/follow-other-registries")
        if counts.accounts < 2:
            yield Step("operators.step_invite", f"{ADMIN}/accounts#add")
        if not counts.keys:
            yield Step("operators.step_key", "/account/connect")
        if backup is None or backup.age > BACKUP_AGE:
            yield Step("operators.step_backup", "/docs/operations/back-up")

    @app.get(SETTINGS)
    @page("settings")
    async def get_settings(self, sent: Sent) -> Mapping[str, Any]:
        config = self._server.config
        rows = [(setting, _source(config, setting.name)) for setting in describe(config)]
        sections: dict[str, list[tuple[ShownSetting, str]]] = {}
        for row in rows:
            sections.setdefault(row[0].name.rpartition(".")[0], []).append(row)
        return {"changed": [row for row in rows if row[1]], "sections": sections}

    @app.get(UPSTREAMS)
    @page("upstreams")
    async def get_upstreams(self, sent: Sent) -> Mapping[str, Any]:
        runs, work = await self._runs(), await self._server.storage.work.all()
        running = {name: row for name in runs if (row := work.get(sync_of(name))) and row.is_active}
        return {
            "upstreams": self._server.all(parts.UPSTREAMS),
            "runs": runs,
            "running": running,
            "max_error": MAX_ERROR,
        }

    async def _runs(self) -> Mapping[str, Sequence[FinishedRun]]:
        """Return the last sync runs of each upstream, the newest first."""
        names = [upstream.state.name for upstream in self._server.all(parts.UPSTREAMS)]
        return {name: await self._server.storage.mirrors.runs(name) for name in names}

    @app.post(f"{UPSTREAMS}/sync")
    @form(UPSTREAMS)
    async def sync(self, sent: Sent) -> Next:
        found = [
            upstream for upstream in self._server.all(parts.UPSTREAMS) if upstream.state.name == sent.fields.get("name")
        ]
        if not found:
            return Next(UPSTREAMS, "upstream_unknown")
        return Next(UPSTREAMS, "sync_started" if found[0].sync_now() else "sync_running")


@frozen
class Step:
    """What an operator should do next: the key of its text, and the page for it."""

    text: str
    href: str


def _open_settings(config: Config) -> Iterator[Step]:
    """Yield the settings on which operators should decide, and have not."""
    for setting in describe(config):
        if setting.step and not _source(config, setting.name):
            yield Step(setting.step, f"{SETTINGS}#{setting.name}")


def _source(config: Config, name: str) -> str:
    """Return where a setting is set; empty for a default. The tables of a setting have its source."""
    return config.sources.get(name) or config.sources.get(name.partition(".")[0], "")


def _free_bytes(config: Config) -> int | None:
    """Return the free bytes of the disk of the data directory; None without one, or if they are unknown."""
    try:
        return None if config.database else disk_usage(config.data_dir).free
    except OSError:
        return None


def _expiry(config: Config) -> float | None:
    """Return when the first certificate of the server's own endpoints expires; None without one."""
    own = [endpoint.named for endpoint in map(endpoints.read, config.listen) if endpoint.kind == "ssl"]
    # As for Twisted, a key may have its certificate in the same file.
    paths = [named.get("certKey") or named.get("privateKey") for named in own]
    if not any(paths):
        return None
    # Only a server with TLS of its own needs it.
    from cryptography.x509 import load_pem_x509_certificate as load

    try:
        files = [read_regular_file(path, MAX_CERTIFICATE) for path in paths if path]
        return min(load(file).not_valid_after_utc.timestamp() for file in files)
    except (OSError, ValueError):
        return None


NAME = "operators"


def _serve(server: Server) -> None:
    requests, errors = server.operators.of_folder(NAME), RecentErrors(server.now)
    server.add(SERVICES, errors)
    open_steps = list(_open_settings(server.config))
    server.add(APPS, ServerPages(requests, server.now(), server, place(server.config), errors, open_steps).app)


PART = WebPart(
    serve=_serve,
    tabs=(
        ("server", ADMIN, f"{NAME}.overview"),
        ("server", UPSTREAMS, f"{NAME}.upstreams"),
        ("server", SETTINGS, f"{NAME}.settings"),
    ),
)

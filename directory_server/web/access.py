"""What is told of each request once it is over: a line in the log, and whatever else wants to know."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from attrs import define, frozen
from twisted.logger import FileLogObserver, LogEvent, Logger
from twisted.python.logfile import LogFile

from .. import wire
from ..errors import Unavailable

NAMESPACE = "directory_server.access"
"""What the log says the lines come from."""

ROTATION = 100_000_000
"""Bytes of a file of lines, about; a longer one becomes the first of those that are kept."""

KEPT = 5
"""Files of lines that are kept beside the one that is written."""

UNMATCHED = "-"
"""Stands for the route, or the method, of what none of ours answers."""


@frozen
class Exchange:
    """A request and its answer, with nothing in it that might be a secret.

    `route` is the template of the path, never the path, which may hold anything; `ended` is in seconds since the
    epoch, `size` in bytes of the answer's body, `seconds` from the request's first byte on.
    """

    ended: float
    method: str
    route: str
    status: int
    size: int
    seconds: float
    key_id: str | None
    request_id: str

    @property
    def text(self) -> str:
        """The line for people."""
        return (
            f"{self.method} {self.route} {self.status} {self.size} B {self.seconds * 1000:.1f} ms "
            f"key={self.key_id or '-'} id={self.request_id}"
        )

    @property
    def json(self) -> str:
        """The line for machines, which has its time in it."""
        return wire.text(
            {
                "time": datetime.fromtimestamp(self.ended, UTC).isoformat(timespec="milliseconds"),
                "method": self.method,
                "route": self.route,
                "status": self.status,
                "bytes": self.size,
                "milliseconds": round(self.seconds * 1000, 3),
                "key": self.key_id,
                "id": self.request_id,
            }
        )


Observer = Callable[[Exchange], None]


@frozen
class Access:
    """Tells `observers` of each request that is over."""

    _now: Callable[[], float]
    _observers: Sequence[Observer]

    def record(
        self, method: str, route: str, status: int, size: int, seconds: float, key_id: str | None, request_id: str
    ) -> None:
        """Tell of one request, by what an Exchange has."""
        exchange = Exchange(self._now(), method, route, status, size, seconds, key_id, request_id)
        for observe in self._observers:
            observe(exchange)


def log(form: Literal["text", "json", "off"], logger: Logger | None = None) -> Sequence[Observer]:
    """Return what writes lines of a form to `logger`, by default the one called `directory_server.access`."""
    if form == "off":
        return ()
    info = (logger or Logger(NAMESPACE)).info
    # The line is put together by whoever wants to see it, which is quicker than by names of its parts in the format.
    template = f"{{exchange.{form}}}"
    return (lambda exchange: info(template, exchange=exchange),)


def file(path: Path) -> Logger:
    """Return a logger that writes lines to a file of their own, for a third of the time. Raises Unavailable."""
    try:
        lines = LogFile.fromFullPath(str(path), rotateLength=ROTATION, maxRotatedFiles=KEPT, defaultMode=0o640)
    except OSError as error:
        raise Unavailable(f"log.access_file: {path} cannot be written: {error.strerror}.") from None
    return Logger(NAMESPACE, observer=FileLogObserver(lines, _Lines()))


@define
class _Lines:
    """Puts the time before each line, which it writes out once a second."""

    _second: int = -1
    _time: str = ""

    def __call__(self, event: LogEvent) -> str:
        when: float = event["log_time"]
        if int(when) != self._second:
            self._second = int(when)
            self._time = datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%dT%H:%M:%S+0000")
        return f"{self._time} {event['log_format'].format_map(event)}\n"

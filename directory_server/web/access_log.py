"""Access logging: one record per finished request, passed to the log and the metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from attrs import frozen
from twisted.logger import Logger, formatTime

from .. import serialization
from ..domain.ports.points import Point
from ..domain.ports.runtime import Turn

NAMESPACE = "directory_server.access"
"""Logger namespace of the access log."""

UNMATCHED = "-"
"""Route of a path that no route matches, and method of bytes that are no request."""


class AccessRecord(NamedTuple):
    """A finished request and its response, without any value that may be a secret.

    `ended` is in seconds since the epoch. `route` is the path template, never the path: a path may contain a secret.
    `size` is the body's size in bytes. `seconds` count from the request's first byte. `errors` are the error codes of
    the response; the response to a batch may have several.
    """

    ended: float
    method: str
    route: str
    status: int
    size: int
    seconds: float
    key_id: str | None
    request_id: str
    errors: tuple[str, ...] = ()

    @property
    def error(self) -> str:
        """Return the distinct error codes, sorted and separated by commas; empty if there are none."""
        return ",".join(sorted(set(self.errors)))

    def text(self) -> str:
        """Return the log line in the text format."""
        duration, key = f"{self.seconds * 1000:.1f} ms", self.key_id or "-"
        line = f"{self.method} {self.route} {self.status} {self.size} B {duration} key={key} id={self.request_id}"
        return f"{line} error={self.error}" if self.errors else line

    def json(self) -> str:
        """Return the log line in the JSON format, with its time."""
        return serialization.text(
            {
                "time": datetime.fromtimestamp(self.ended, UTC).isoformat(timespec="milliseconds"),
                "method": self.method,
                "route": self.route,
                "status": self.status,
                "bytes": self.size,
                "milliseconds": round(self.seconds * 1000, 3),
                "key": self.key_id,
                "id": self.request_id,
                **({"error": self.error} if self.errors else {}),
            }
        )


Observer = Callable[[Sequence[AccessRecord]], None]
"""Receives the records of the requests that ended in one reactor turn."""


OBSERVERS = Point[Observer]()
"""Get the finished requests of each reactor turn."""


class AccessRecorder:
    """Pass the records of finished requests to `observers` at the end of each turn, or by `flush`."""

    def __init__(self, now: Callable[[], float], observers: Sequence[Observer], turn: Turn) -> None:
        self._now = now
        self._observers = observers
        self._turn = turn
        self._records: list[AccessRecord] = []

    def record(self, *fields: Any) -> None:
        """Add the record of one request; the arguments are the fields of AccessRecord after `ended`."""
        self._records.append(AccessRecord(self._now(), *fields))
        if len(self._records) == 1:
            self._turn.at_end(self.flush)

    def flush(self) -> None:
        """Pass on the pending records."""
        records, self._records = self._records, []
        if records:
            for observe in self._observers:
                observe(records)


class AccessLog:
    """Write lines in `format` to `logger`, by default the logger `directory_server.access`.

    The lines of all requests that end in one reactor turn are one log event, because an event costs more than a line.
    """

    def __init__(self, format: Literal["text", "json"], logger: Logger | None = None) -> None:
        self._format = format
        self._info = (logger or Logger(NAMESPACE)).info

    def __call__(self, records: Sequence[AccessRecord]) -> None:
        """Write the lines of requests."""
        self._info("{lines}", lines=Lines(self._format, records))


@frozen
class Lines:
    """Log lines of several requests, formatted when they are read."""

    _format: str
    _records: Sequence[AccessRecord]

    def each(self) -> Iterator[tuple[str, str]]:
        """Yield the time and the line of each request."""
        line = getattr(AccessRecord, self._format)
        for record in self._records:
            yield _time(int(record.ended)), line(record)

    def written(self) -> Iterator[str]:
        """Yield the line of each request for a file of its own. A JSON line has its time inside, and nothing else."""
        for time, line in self.each():
            yield f"{line}\n" if self._format == "json" else f"{time} {line}\n"

    def __str__(self) -> str:
        (_, first), *others = self.each()
        # The log writes its prefix once and a tab before each following line, so these lines repeat the prefix.
        return "".join([first, *[f"\n{time} [{NAMESPACE}#info] {line}" for time, line in others]])


@lru_cache(10)
def _time(second: int) -> str:
    """Return a time in the format of the server log."""
    return formatTime(second)

"""What is told of each request once it is over: a line in the log, and whatever else wants to know."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Literal

from attrs import frozen
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger, formatTime

from .. import serialization

NAMESPACE = "directory_server.access"
"""What the log says the lines come from."""

UNMATCHED = "-"
"""Stands for the route, or the method, of what none of ours answers."""


@frozen
class AccessRecord:
    """A request and its answer, with nothing in it that might be a secret.

    `route` is the template of the path, never the path, which may hold anything; `ended` is in seconds since the
    epoch, `size` in bytes of the answer's body, `seconds` from the request's first byte on; `errors` are the codes of
    the errors in the answer, which has several where it answers a batch.
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
        """The different codes of the errors in the answer, in the order of their names; empty if there are none."""
        return ",".join(sorted(set(self.errors)))

    @property
    def text(self) -> str:
        """The line for people."""
        return (
            f"{self.method} {self.route} {self.status} {self.size} B {self.seconds * 1000:.1f} ms "
            f"key={self.key_id or '-'} id={self.request_id}{' error=' + self.error if self.errors else ''}"
        )

    @property
    def json(self) -> str:
        """The line for machines, which has its time in it."""
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


Observer = Callable[[AccessRecord], None]


@frozen
class AccessRecorder:
    """Tells `observers` of each request that is over."""

    _now: Callable[[], float]
    _observers: Sequence[Observer]

    def record(
        self,
        method: str,
        route: str,
        status: int,
        size: int,
        seconds: float,
        key_id: str | None,
        request_id: str,
        errors: tuple[str, ...] = (),
    ) -> None:
        """Tell of one request, by what an Exchange has."""
        exchange = AccessRecord(self._now(), method, route, status, size, seconds, key_id, request_id, errors)
        for observe in self._observers:
            observe(exchange)


class AccessLog:
    """Writes lines of a form to `logger`, by default the one called `directory_server.access`.

    Those of the requests that end in one turn of the reactor are one event of the log, for an event costs more than
    they do. It is the next turn, by `clock`, that writes them, or `flush`.
    """

    def __init__(self, form: Literal["text", "json"], clock: IReactorTime, logger: Logger | None = None) -> None:
        self._form = form
        self._clock = clock
        self._info = (logger or Logger(NAMESPACE)).info
        self._exchanges: list[AccessRecord] = []

    def __call__(self, exchange: AccessRecord) -> None:
        """Write the line of a request, soon."""
        self._exchanges.append(exchange)
        if len(self._exchanges) == 1:
            self._clock.callLater(0, self.flush)

    def flush(self) -> None:
        """Write the lines that are waiting."""
        exchanges, self._exchanges = self._exchanges, []
        if exchanges:
            self._info("{lines}", lines=Lines(self._form, exchanges))


@frozen
class Lines:
    """The lines of some requests, put together by whoever wants to see them."""

    _form: str
    _exchanges: Sequence[AccessRecord]

    def each(self) -> Iterator[tuple[str, str]]:
        """Yield the time of each request, and its line."""
        for exchange in self._exchanges:
            yield _time(int(exchange.ended)), getattr(exchange, self._form)

    def __str__(self) -> str:
        (_, first), *others = self.each()
        # The log writes its prefix once, and a tab before each line that follows: what is behind that is no different.
        return "".join([first, *(f"\n{time} [{NAMESPACE}#info] {line}" for time, line in others)])


@lru_cache(10)
def _time(second: int) -> str:
    """Return a time as the log writes it."""
    return formatTime(second)

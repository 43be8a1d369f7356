"""What telling of a request costs: the route's template, the line in the log, the numbers.

    python -m bench.access

prints microseconds a request, the best of several rounds, for a log that nobody reads and for one that goes to a file
as `twistd` writes it.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from twisted.internet.task import Clock
from twisted.logger import Logger, LogPublisher, textFileLogObserver

from directory_server.domain.ports.runtime import Turn
from directory_server.turn import ImmediateTurn, ReactorTurn
from directory_server.web import access_log
from directory_server.web.metrics import Metrics
from directory_server.web.routes import TABLE

ROUNDS = 2_000
IMMEDIATE = ImmediateTurn()


def microseconds(work: Callable[[], Any]) -> float:
    return min(timeit.repeat(work, number=ROUNDS, repeat=7)) / ROUNDS * 1e6


def recording(*observers: access_log.Observer, turn: Turn = IMMEDIATE) -> Callable[[], None]:
    record = access_log.AccessRecorder(lambda: 1_800_000_000.5, observers, turn).record
    return lambda: record("GET", "/api/open/v1/search", 200, 5_754, 0.0005, "f2zca6az", "ebf3ace90c0e-1")


def turn(form: Literal["text", "json"], logger: Logger, requests: int) -> Callable[[], None]:
    """Return what so many requests cost that end in one turn of the reactor."""
    clock = Clock()
    record = recording(access_log.AccessLog(form, logger), turn=ReactorTurn(clock))

    def work() -> None:
        for _ in range(requests):
            record()
        clock.advance(0)

    return work


def main() -> None:
    search, entry = b"/api/open/v1/search", b"/api/open/v1/entries/41d18bdd-f870-5370-a6db-68de9251dacf"
    with Path("/dev/null").open("w") as nowhere:
        publisher = LogPublisher()
        unread = Logger("directory_server.access", observer=publisher)
        read = Logger("directory_server.access", observer=LogPublisher(textFileLogObserver(nowhere)))
        for name, requests, work in [
            ("route of an exact path", 1, lambda: TABLE.find(search)),
            ("route of a pattern", 1, lambda: TABLE.find(entry)),
            ("route of an unknown path", 1, lambda: TABLE.find(b"/nowhere")),
            ("log off, no metrics", 1, recording()),
            ("metrics", 1, recording(Metrics(lambda: 1_800_000_000.0).observe)),
            ("log that nobody reads", 1, turn("text", unread, 1)),
            ("log as text, alone", 1, turn("text", read, 1)),
            ("log as text, 20 in a turn", 20, turn("text", read, 20)),
            ("log as JSON, alone", 1, turn("json", read, 1)),
            ("log as JSON, 20 in a turn", 20, turn("json", read, 20)),
        ]:
            print(f"{name:<30}{microseconds(work) / requests:>7.2f} µs")


if __name__ == "__main__":
    main()

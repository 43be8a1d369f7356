"""Measure the cost of the route template, the access log and the metrics of a request.

    python -m bench.access

prints microseconds of CPU time per request, the minimum of several repeats, for a log without observers and for a log
file as `twistd` writes it.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any, Literal

from twisted.internet.task import Clock
from twisted.logger import Logger, LogPublisher, textFileLogObserver

from directory_server.domain.ports.runtime import Turn
from directory_server.turn import ImmediateTurn, ReactorTurn
from directory_server.web import access_log
from directory_server.web.metrics import Metrics
from directory_server.web.routes import TABLE

CALLS = 2_000
"""Calls in one repeat."""

IMMEDIATE = ImmediateTurn()


def microseconds(work: Callable[[], Any]) -> float:
    """Return the CPU time of one call."""
    return min(timeit.repeat(work, timer=process_time, number=CALLS, repeat=7)) / CALLS * 1e6


def recorder(*observers: access_log.Observer, turn: Turn = IMMEDIATE) -> Callable[[], None]:
    record = access_log.AccessRecorder(lambda: 1_800_000_000.5, observers, turn).record
    return lambda: record("GET", "/api/open/v1/search", 200, 5_754, 0.0005, "f2zca6az", "ebf3ace90c0e-1")


def turn(form: Literal["text", "json"], logger: Logger, requests: int) -> Callable[[], None]:
    """Return a function that records `requests` requests in one turn of the reactor."""
    clock = Clock()
    record = recorder(access_log.AccessLog(form, logger), turn=ReactorTurn(clock))

    def work() -> None:
        for _ in range(requests):
            record()
        clock.advance(0)

    return work


def main() -> None:
    search, entry = b"/api/open/v1/search", b"/api/open/v1/entries/41d18bdd-f870-5370-a6db-68de9251dacf"
    with Path("/dev/null").open("w") as null:
        publisher = LogPublisher()
        unobserved = Logger("directory_server.access", observer=publisher)
        observed = Logger("directory_server.access", observer=LogPublisher(textFileLogObserver(null)))
        for name, requests, work in [
            ("route of an exact path", 1, lambda: TABLE.find(search)),
            ("route of a pattern", 1, lambda: TABLE.find(entry)),
            ("route of an unknown path", 1, lambda: TABLE.find(b"/nowhere")),
            ("log off, no metrics", 1, recorder()),
            ("metrics", 1, recorder(Metrics(lambda: 1_800_000_000.0).observe)),
            ("log without observers", 1, turn("text", unobserved, 1)),
            ("log as text, 1 per turn", 1, turn("text", observed, 1)),
            ("log as text, 20 per turn", 20, turn("text", observed, 20)),
            ("log as JSON, 1 per turn", 1, turn("json", observed, 1)),
            ("log as JSON, 20 per turn", 20, turn("json", observed, 20)),
        ]:
            print(f"{name:<30}{microseconds(work) / requests:>7.2f} µs")


if __name__ == "__main__":
    main()

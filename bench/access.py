"""What telling of a request costs: the route's template, the line in the log, the numbers.

    python -m bench.access

prints microseconds a request, the best of several rounds, for a log that nobody reads and for one that goes to a file
as `twistd` writes it.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

from twisted.logger import Logger, LogPublisher, textFileLogObserver

from directory_server.web import access
from directory_server.web._templates import Templates
from directory_server.web.metrics import Metrics
from directory_server.web.routes import Routes

ROUNDS = 20_000


def microseconds(work: Callable[[], Any]) -> float:
    return min(timeit.repeat(work, number=ROUNDS, repeat=7)) / ROUNDS * 1e6


def recording(*observers: access.Observer) -> Callable[[], None]:
    record = access.Access(lambda: 1_800_000_000.5, observers).record
    return lambda: record("GET", "/api/open/v1/search", 200, 5_754, 0.0005, "f2zca6az", "ebf3ace90c0e-1")


def main() -> None:
    templates = Templates(rule.rule for rule in Routes.app.url_map.iter_rules())
    search, entry = b"/api/open/v1/search", b"/api/open/v1/entries/41d18bdd-f870-5370-a6db-68de9251dacf"
    with Path("/dev/null").open("w") as nowhere:
        publisher = LogPublisher()
        unread = Logger("directory_server.access", observer=publisher)
        read = Logger("directory_server.access", observer=LogPublisher(textFileLogObserver(nowhere)))
        for name, work in {
            "template of an exact path": lambda: templates.of(search),
            "template of a pattern": lambda: templates.of(entry),
            "template of an unknown path": lambda: templates.of(b"/nowhere"),
            "log off, no metrics": recording(),
            "metrics": recording(Metrics().observe),
            "log that nobody reads": recording(*access.log("text", unread)),
            "log as text to a file": recording(*access.log("text", read)),
            "log as JSON to a file": recording(*access.log("json", read)),
        }.items():
            print(f"{name:<30}{microseconds(work):>7.2f} µs")


if __name__ == "__main__":
    main()

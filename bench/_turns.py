"""`python -m bench._turns OPTIONS`: `twistd directory OPTIONS` that tells of its longest turns.

A turn is from the end of one wait for events to the beginning of the next: nobody is answered meanwhile. GET on the
port that is printed says how many there were, and the longest in milliseconds, and begins anew.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from twisted.web.resource import Resource
from twisted.web.server import Request, Site


class Turns(Resource):
    isLeaf = True

    def __init__(self, poller: Any) -> None:
        super().__init__()
        self._poller = poller
        self._taken: list[float] = []
        self._began = time.perf_counter()

    def poll(self, *args: Any) -> Any:
        self._taken.append(time.perf_counter() - self._began)
        events = self._poller.poll(*args)
        self._began = time.perf_counter()
        return events

    def render_GET(self, request: Request) -> bytes:
        taken, self._taken = sorted(1000 * each for each in self._taken), []
        over = sum(each > 50 for each in taken)
        longest = ", ".join(f"{each:.0f}" for each in reversed(taken[-5:]))
        return f"{len(taken):,}, of them over 50 ms: {over}, longest: {longest} ms".encode()


class Poller:
    """The reactor's poller, whose `poll` is watched."""

    def __init__(self, poller: Any, poll: Any) -> None:
        self._poller = poller
        self.poll = poll

    def __getattr__(self, name: str) -> Any:
        return getattr(self._poller, name)


def main(*arguments: str) -> None:
    from twisted.internet import reactor as real

    from directory_server.tap import Options, makeService

    reactor: Any = real
    options = Options()
    options.parseOptions(list(arguments))
    service = makeService(options)
    service.privilegedStartService()
    service.startService()
    turns = Turns(reactor._poller)
    reactor._poller = Poller(reactor._poller, turns.poll)
    print(reactor.listenTCP(0, Site(turns), interface="127.0.0.1").getHost().port, flush=True)
    reactor.run()


if __name__ == "__main__":
    main(*sys.argv[1:])

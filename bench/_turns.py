"""`python -m bench._turns OPTIONS`: `twistd directory OPTIONS` that tells of its longest turns.

A turn is from the end of one wait for events to the beginning of the next: nobody is answered meanwhile. Time for which
a wait that was over could not end counts as well: another thread kept the interpreter, or other processes the machine.
GET on the port that is printed says how many turns there were, and the longest in milliseconds, and begins anew.

Without OPTIONS it serves nothing: what its longest turns are is the machine's own doing.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from twisted.web.resource import Resource
from twisted.web.server import Request, Site

TICK = 0.005
"""Seconds after which a wait ends even where nothing happens."""


class Turns(Resource):
    isLeaf = True

    def __init__(self, poller: Any) -> None:
        super().__init__()
        self._poller = poller
        self._taken: list[float] = []
        self._began = time.perf_counter()

    def poll(self, timeout: float, *args: Any) -> Any:
        ended = time.perf_counter()
        self._taken.append(ended - self._began)
        events = self._poller.poll(timeout, *args)
        self._began = min(time.perf_counter(), ended + timeout)
        return events

    def longest(self) -> float:
        """Return the longest turn in milliseconds and reset the measurement."""
        taken, self._taken = self._taken, []
        return 1000 * max(taken, default=0.0)

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
    from twisted.internet.task import LoopingCall

    reactor: Any = real
    if arguments:
        from directory_server.tap import Options, makeService

        options = Options()
        options.parseOptions(list(arguments))
        service = makeService(options)
        service.privilegedStartService()
        service.startService()
    turns = Turns(reactor._poller)
    reactor._poller = Poller(reactor._poller, turns.poll)
    LoopingCall(lambda: None).start(TICK)
    print(reactor.listenTCP(0, Site(turns), interface="127.0.0.1").getHost().port, flush=True)
    reactor.run()


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Measure the longest turns of a reactor.

    python -m bench.servers.reactor_turns [OPTIONS]

runs `twistd directory OPTIONS`, or an empty reactor without OPTIONS, as a reference for the machine. It prints the port
on which GET returns the number of turns since the last GET, and the longest ones in milliseconds: of elapsed time, and
of processor time of the reactor's thread. The path /longest returns only the longest of both, as JSON.

A turn lasts from the end of one wait for events to the begin of the next. A wait that ends late counts too: another
thread had the interpreter, or another process the core.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from attrs import asdict, frozen
from twisted.web.resource import Resource
from twisted.web.server import Request, Site

from .launch import PROJECT

TICK = 0.005
"""Maximum seconds of a wait for events."""


@frozen
class LongestTurns:
    """The longest turns of a reactor in milliseconds: of elapsed time, and of processor time."""

    elapsed: float
    cpu: float


class Turns(Resource):
    """Records the turns of the reactor whose poller it has."""

    isLeaf = True

    def __init__(self, poller: Any) -> None:
        super().__init__()
        self._poller = poller
        self._seconds: list[float] = []
        self._began = time.perf_counter()
        self._cpu: list[float] = []
        self._cpu_began = time.thread_time()

    def poll(self, timeout: float, *args: Any) -> Any:
        ended = time.perf_counter()
        self._seconds.append(ended - self._began)
        self._cpu.append(time.thread_time() - self._cpu_began)
        events = self._poller.poll(timeout, *args)
        self._began = min(time.perf_counter(), ended + timeout)
        self._cpu_began = time.thread_time()
        return events

    def longest(self) -> float:
        """Return the longest turn in milliseconds and reset the measurement."""
        seconds, self._seconds, self._cpu = self._seconds, [], []
        return 1000 * max(seconds, default=0.0)

    def render_GET(self, request: Request) -> bytes:
        if request.path == b"/longest":
            found = LongestTurns(cpu=1000 * max(self._cpu, default=0.0), elapsed=self.longest())
            return json.dumps(asdict(found)).encode()
        turns, self._seconds = sorted(1000 * each for each in self._seconds), []
        cpu, self._cpu = sorted(1000 * each for each in self._cpu), []
        over = sum(each > 50 for each in turns)
        longest, of_cpu = (", ".join(f"{each:.0f}" for each in reversed(found[-5:])) for found in (turns, cpu))
        return f"{len(turns):,}, of them over 50 ms: {over}, longest: {longest} ms, CPU: {of_cpu} ms".encode()


class MeasuredPoller:
    """A reactor's poller with another `poll`."""

    def __init__(self, poller: Any, poll: Any) -> None:
        self._poller = poller
        self.poll = poll

    def __getattr__(self, name: str) -> Any:
        return getattr(self._poller, name)


def measure(reactor: Any) -> Turns:
    """Start to measure the turns of `reactor`."""
    from twisted.internet.task import LoopingCall

    turns = Turns(reactor._poller)
    reactor._poller = MeasuredPoller(reactor._poller, turns.poll)
    LoopingCall(lambda: None).start(TICK)
    return turns


@contextmanager
def measured_process(*options: str, environ: Mapping[str, str] | None = None) -> Iterator[tuple[int, int]]:
    """Run this module with `options`; yield the process id and the port that returns the turns."""
    command = [sys.executable, "-m", "bench.servers.reactor_turns", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=PROJECT, env=environ) as process:
        assert process.stdout is not None
        try:
            yield process.pid, int(process.stdout.readline())
        finally:
            process.kill()


def main(*arguments: str) -> None:
    from twisted.internet import reactor as _reactor

    reactor: Any = _reactor
    if arguments:
        from directory_server.tap import Options, makeService

        options = Options()
        options.parseOptions(list(arguments))
        service = makeService(options)
        service.privilegedStartService()
        service.startService()
    turns = measure(reactor)
    print(reactor.listenTCP(0, Site(turns), interface="127.0.0.1").getHost().port, flush=True)
    reactor.run()


if __name__ == "__main__":
    main(*sys.argv[1:])

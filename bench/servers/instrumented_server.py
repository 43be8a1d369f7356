"""The directory server with a control port for benchmarks.

    python -m bench.servers.instrumented_server [OPTIONS]

runs `twistd directory OPTIONS` and prints the control port. There, `POST /` broadcasts its body to all streams, and
`GET /` returns the number of open streams and of streams that were aborted; with `?buffered=1` also the largest number
of bytes that are buffered for one reader. `GET /longest` returns the longest turns of the reactor since the last such
request, in milliseconds: of elapsed time, and of processor time of the reactor's thread.

A turn lasts from the end of one wait for events to the begin of the next. A wait that ends late counts too: another
thread had the interpreter, or another process the core.
"""

from __future__ import annotations

import json
import resource
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from attrs import asdict, frozen
from twisted.web.resource import Resource
from twisted.web.server import Request, Site

from directory_server.http import Request as HttpRequest
from directory_server.streams import Channel, Hub, Stream

from .launch import PROJECT

TICK = 0.005
"""Maximum seconds of a wait for events."""

_MEMINFO = 55
"""SO_MEMINFO of Linux: nine numbers; the sixth is the size of the send queue in bytes."""


@frozen
class LongestTurns:
    """The longest turns of a reactor in milliseconds: of elapsed time, and of processor time."""

    elapsed: float
    cpu: float


class MeasuredPoller:
    """A reactor's poller that measures the turns between its polls."""

    def __init__(self, poller: Any) -> None:
        self._poller = poller
        self._longest = LongestTurns(0.0, 0.0)
        self._began, self._cpu_began = time.perf_counter(), time.thread_time()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._poller, name)

    def poll(self, timeout: float, *args: Any) -> Any:
        ended = time.perf_counter()
        elapsed, cpu = 1000 * (ended - self._began), 1000 * (time.thread_time() - self._cpu_began)
        self._longest = LongestTurns(max(elapsed, self._longest.elapsed), max(cpu, self._longest.cpu))
        events = self._poller.poll(timeout, *args)
        self._began = min(time.perf_counter(), ended + timeout)
        self._cpu_began = time.thread_time()
        return events

    def longest(self) -> LongestTurns:
        """Return the longest turns and reset the measurement."""
        found, self._longest = self._longest, LongestTurns(0.0, 0.0)
        return found


class Control(Resource):
    """Broadcasts to the streams and counts them, and returns the longest turns."""

    isLeaf = True

    def __init__(self, hub: Hub, poller: MeasuredPoller) -> None:
        super().__init__()
        self._hub, self._channel, self._poller = hub, hub.channel(), poller
        open_stream = hub.open

        def open_and_join(
            request: HttpRequest, key_id: str, channel: Channel | None = None, *args: Any, **more: Any
        ) -> Stream:
            return open_stream(request, key_id, self._channel, *args, **more)

        hub.open = open_and_join  # type: ignore[method-assign]

    def render_POST(self, request: Request) -> bytes:
        assert request.content is not None
        self._channel.send(request.content.read())
        return b""

    def render_GET(self, request: Request) -> bytes:
        if request.path == b"/longest":
            return json.dumps(asdict(self._poller.longest())).encode()
        streams = [stream for slot in self._hub._wheel for stream in slot]
        buffered = [_buffered(stream) for stream in streams] if b"buffered" in request.args else []
        counts = {"open": len(self._hub), "aborted": self._hub.cuts, "buffered": max(buffered, default=0)}
        return json.dumps(counts).encode()


def _buffered(stream: Stream) -> int:
    """Return the bytes that the kernel, the transport and the stream's backlog hold for a reader."""
    transport = stream._transport
    queued = struct.unpack("9I", transport.getHandle().getsockopt(socket.SOL_SOCKET, _MEMINFO, 36))[5]
    backlog = stream._backlog.size if stream._backlog else 0
    return int(queued + len(transport.dataBuffer) + transport._tempDataLen + backlog)


@contextmanager
def instrumented(
    *options: str, environ: Mapping[str, str] | None = None, log: Path | None = None
) -> Iterator[tuple[int, int]]:
    """Run this module with `options`, with its errors in the file `log`; yield the process id and the control port."""
    command = [sys.executable, "-m", "bench.servers.instrumented_server", *options]
    with ExitStack() as stack:
        errors = stack.enter_context(log.open("w")) if log else None
        process = stack.enter_context(
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=PROJECT, env=environ)
        )
        assert process.stdout is not None
        try:
            yield process.pid, int(process.stdout.readline())
        finally:
            process.kill()


def main(*arguments: str) -> None:
    from twisted.internet import reactor as _reactor
    from twisted.internet.task import LoopingCall
    from twisted.logger import globalLogBeginner, textFileLogObserver

    from directory_server.runtime.machine import use_monotonic_timers
    from directory_server.tap import Options, makeService

    reactor: Any = _reactor
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    globalLogBeginner.beginLoggingTo([textFileLogObserver(sys.stderr)], redirectStandardIO=False)
    use_monotonic_timers(reactor)
    options = Options()
    options.parseOptions(list(arguments))
    service: Any = makeService(options)
    service.privilegedStartService()
    service.startService()
    poller = reactor._poller = MeasuredPoller(reactor._poller)
    LoopingCall(lambda: None).start(TICK)
    control = Site(Control(service.application.publishers.hub, poller))
    print(reactor.listenTCP(0, control, interface="127.0.0.1").getHost().port, flush=True)
    reactor.addSystemEventTrigger("before", "shutdown", service.stopService)
    reactor.run()


if __name__ == "__main__":
    main(*sys.argv[1:])

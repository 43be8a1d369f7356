"""The directory server with a control endpoint for benchmarks.

    python -m bench.servers.instrumented_server DATA_DIR PORT CONTROL_PORT [SECTION.KEY=VALUE …]

The server serves DATA_DIR on PORT as `twistd directory` does, with the configuration file DATA_DIR/directory.toml if it
exists. On CONTROL_PORT, `POST /` broadcasts its body to all streams, and `GET /` returns the number of open streams and
of streams that were aborted. With `?buffered=1` it adds the largest number of bytes that are buffered for one reader.
With `?turns=1` it adds the longest turn of the reactor since the last such request, in milliseconds.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
from pathlib import Path
from typing import Any

from twisted.internet import reactor as _reactor
from twisted.logger import globalLogBeginner, textFileLogObserver
from twisted.web.resource import Resource
from twisted.web.server import Request, Site

from directory_server.app import DirectoryService
from directory_server.config import load
from directory_server.features import SECTIONS
from directory_server.http import Request as HttpRequest
from directory_server.machine import use_monotonic_timers
from directory_server.streams import Channel, Hub, Stream

from .reactor_turns import Turns, measure

_MEMINFO = 55
"""SO_MEMINFO of Linux: nine numbers; the sixth is the size of the send queue in bytes."""

reactor: Any = _reactor


class Control(Resource):
    """Broadcasts to the streams and counts them."""

    isLeaf = True

    def __init__(self, hub: Hub) -> None:
        super().__init__()
        self._turns: Turns | None = None
        self._hub, self._channel = hub, hub.channel()
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
        streams = [stream for slot in self._hub._wheel for stream in slot]
        buffered = [_buffered(stream) for stream in streams] if b"buffered" in request.args else []
        counts = {"open": len(self._hub), "aborted": self._hub.cuts, "buffered": max(buffered, default=0)}
        if b"turns" in request.args:
            counts["turn"] = round(self._longest_turn())
        return json.dumps(counts).encode()

    def _longest_turn(self) -> float:
        if self._turns is None:
            # The measurement costs time, so it starts with the first request for it.
            self._turns = measure(reactor)
        return self._turns.longest()


def _buffered(stream: Stream) -> int:
    """Return the bytes that the kernel, the transport and the stream's backlog hold for a reader."""
    transport = stream._transport
    queued = struct.unpack("9I", transport.getHandle().getsockopt(socket.SOL_SOCKET, _MEMINFO, 36))[5]
    backlog = stream._backlog.size if stream._backlog else 0
    return int(queued + len(transport.dataBuffer) + transport._tempDataLen + backlog)


def main(data: str, port: str, control_port: str, *settings: str) -> None:
    log = (Path(data) / "log").open("w", buffering=1)
    globalLogBeginner.beginLoggingTo([textFileLogObserver(log)], redirectStandardIO=False)
    listen = [f"tcp:{port}:interface=127.0.0.1"]
    use_monotonic_timers(reactor)
    file = Path(data) / "directory.toml"
    service = DirectoryService(
        load(
            file=file if file.exists() else None,
            environ={},
            settings=settings,
            listen=listen,
            data_dir=Path(data),
            sections=SECTIONS,
        ),
        reactor,
    )
    service.privilegedStartService()
    service.startService()
    control = Site(Control(service.application.publishers.hub))
    reactor.listenTCP(int(control_port), control, interface="127.0.0.1")
    reactor.addSystemEventTrigger("before", "shutdown", service.stopService)
    reactor.run()


if __name__ == "__main__":
    main(*sys.argv[1:])

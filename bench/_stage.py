"""The server, with a door through which a benchmark publishes and looks inside.

    python -m bench._stage DATA_DIR PORT DOOR [SECTION.KEY=VALUE …]

serves DATA_DIR as `twistd directory` does, with the file directory.toml in it, if there is one, as its configuration.
`POST /` at DOOR sends its body to all streams; `GET /` tells of them; `GET /?turns=1` of
the longest turn of the reactor since the last time, too, in milliseconds.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
from pathlib import Path
from typing import Any

from twisted.internet import reactor as _reactor
from twisted.internet.task import LoopingCall
from twisted.logger import globalLogBeginner, textFileLogObserver
from twisted.web.resource import Resource
from twisted.web.server import Request, Site

from directory_server.app import DirectoryService
from directory_server.config import load
from directory_server.machine import use_monotonic_timers
from directory_server.streams import Channel, Hub, Stream

from ._turns import TICK, Poller, Turns

_MEMINFO = 55
"""SO_MEMINFO of Linux: nine numbers, of which the sixth is what waits to be sent."""

reactor: Any = _reactor


class Door(Resource):
    """Sends and counts."""

    isLeaf = True

    def __init__(self, hub: Hub) -> None:
        super().__init__()
        self._turns: Turns | None = None
        self._hub, self._channel = hub, hub.channel()
        open_stream = hub.open

        def join(request: Request, key_id: str, channel: Channel | None = None, *args: Any, **more: Any) -> Stream:
            return open_stream(request, key_id, self._channel, *args, **more)

        hub.open = join  # type: ignore[method-assign]

    def render_POST(self, request: Request) -> bytes:
        assert request.content is not None
        self._channel.send(request.content.read())
        return b""

    def render_GET(self, request: Request) -> bytes:
        streams = [stream for slot in self._hub._wheel for stream in slot]
        kept = [_kept(stream) for stream in streams] if b"kept" in request.args else []
        said = {"open": len(self._hub), "cuts": self._hub.cuts, "kept": max(kept, default=0)}
        if b"turns" in request.args:
            said["turn"] = round(self._longest_turn())
        return json.dumps(said).encode()

    def _longest_turn(self) -> float:
        if self._turns is None:
            # Only who asks pays for the measuring.
            self._turns = Turns(reactor._poller)
            reactor._poller = Poller(reactor._poller, self._turns.poll)
            LoopingCall(lambda: None).start(TICK)
        return self._turns.longest()


def _kept(stream: Stream) -> int:
    """Return the bytes that are kept for a reader: by the kernel, with its records, by the transport, by us."""
    transport = stream._transport
    queued = struct.unpack("9I", transport.getHandle().getsockopt(socket.SOL_SOCKET, _MEMINFO, 36))[5]
    backlog = stream._backlog.size if stream._backlog else 0
    return int(queued + len(transport.dataBuffer) + transport._tempDataLen + backlog)


def main(data: str, port: str, door: str, *settings: str) -> None:
    log = (Path(data) / "log").open("w", buffering=1)
    globalLogBeginner.beginLoggingTo([textFileLogObserver(log)], redirectStandardIO=False)
    listen = [f"tcp:{port}:interface=127.0.0.1"]
    use_monotonic_timers(reactor)
    file = Path(data) / "directory.toml"
    service = DirectoryService(
        load(file=file if file.exists() else None, environ={}, settings=settings, listen=listen, data_dir=Path(data)),
        reactor,
    )
    service.privilegedStartService()
    service.startService()
    # The other holds the pages that people have open.
    hub, _ = (part for part in service if isinstance(part, Hub))
    reactor.listenTCP(int(door), Site(Door(hub)), interface="127.0.0.1")
    reactor.addSystemEventTrigger("before", "shutdown", service.stopService)
    reactor.run()


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Downloads: a part of a file is sent in place of the HTTP protocol of its connection, a piece at a time."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred, TimeoutError
from twisted.internet.interfaces import IDelayedCall, IProtocol, IPushProducer, ITransport
from twisted.python.failure import Failure
from zope.interface import implementer

from ...domain.ports.runtime import Offload
from ...http import Request
from ...http.errors import HttpError

MAX_DOWNLOADS, MAX_PER_CLIENT = 16, 4
"""Downloads of a process at a time, of all clients and of one."""

PIECE = 65_536
"""Bytes that are read at a time."""

STALL = 30.0
"""Seconds in which a client must read what was sent."""

MAX_TIME = 3_600.0
"""Seconds that a download may take. The client can continue it with Range."""


class Downloads:
    """The downloads of a process. `clock` bounds their time."""

    def __init__(self, offload: Offload, clock: Any) -> None:
        self._offload = offload
        self._clock = clock
        self._open: Counter[str] = Counter()

    async def send(self, request: Request, client: str, path: Path, start: int, end: int) -> None:
        """Send the bytes of the file `path` from `start` to before `end` as the body of the response.

        Raises HttpError if there are too many downloads, and FileNotFoundError.
        """
        if self._open.total() >= MAX_DOWNLOADS or self._open[client] >= MAX_PER_CLIENT:
            raise HttpError(503, "unavailable", "There are too many downloads. Try again.", {"Retry-After": "60"})
        self._open[client] += 1
        file = -1
        try:
            file = await self._offload(os.open, path, os.O_RDONLY)
        except BaseException:
            self._ended(client, file)
            raise
        if request.disconnected:
            self._ended(client, file)
            return
        request.setHeader("Content-Length", str(end - start))
        request.sentLength = end - start
        download = Download(file, start, end, self._offload, self._clock, lambda: self._ended(client, file))
        download.begin(request.switch_protocol(download))

    def _ended(self, client: str, file: int) -> None:
        if file >= 0:
            os.close(file)
        self._open[client] -= 1
        if not self._open[client]:
            del self._open[client]


@implementer(IProtocol, IPushProducer)
class Download:
    """One download. `ended` is called when its file is no longer read."""

    transport: Any

    def __init__(
        self, file: int, start: int, end: int, offload: Offload, clock: Any, ended: Callable[[], None]
    ) -> None:
        self._file = file
        self._at = start
        self._end = end
        self._offload = offload
        self._clock = clock
        self._ended = ended
        self._is_open = True
        self._resumed: Deferred[None] | None = None
        self._closing: IDelayedCall | None = None

    def begin(self, head: bytes) -> None:
        """Send the head of the response, then the file."""
        self.transport.write(head)
        Deferred.fromCoroutine(self._send()).addErrback(lambda _: self.transport.abortConnection())

    async def _send(self) -> None:
        began = self._clock.seconds()
        try:
            while self._is_open and self._at < self._end:
                piece = await self._offload(os.pread, self._file, min(PIECE, self._end - self._at), self._at)
                if not piece or self._clock.seconds() - began > MAX_TIME:
                    raise TimeoutError
                self._at += len(piece)
                if self._is_open:
                    self.transport.write(piece)
                if self._resumed is not None:
                    await self._resumed.addTimeout(STALL, self._clock)
        finally:
            self._ended()
        if self._is_open:
            self.transport.unregisterProducer()
            self.transport.loseConnection()
            # The client may not read the last bytes.
            self._closing = self._clock.callLater(STALL, self.transport.abortConnection)

    def makeConnection(self, transport: ITransport) -> None:
        self.transport = transport
        self.transport.registerProducer(self, True)

    def connectionMade(self) -> None:
        """Do nothing: the connection was open before."""

    def dataReceived(self, data: bytes) -> None:
        """Ignore what the client sends after its request."""

    def connectionLost(self, reason: Failure) -> None:
        self._is_open = False
        if self._closing is not None and self._closing.active():
            self._closing.cancel()
        self.resumeProducing()

    def pauseProducing(self) -> None:
        if self._resumed is None:
            self._resumed = Deferred()

    def resumeProducing(self) -> None:
        resumed, self._resumed = self._resumed, None
        if resumed is not None and not resumed.called:
            resumed.callback(None)

    def stopProducing(self) -> None:
        """Do nothing: connectionLost follows."""

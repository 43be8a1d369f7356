"""Server-sent events of an untrusted server (WHATWG HTML, section 9.2), with bounds."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.protocol import Protocol, connectionDone
from twisted.python.failure import Failure
from twisted.web.client import ResponseDone
from twisted.web.http import PotentialDataLoss
from twisted.web.iweb import IResponse

from ....http_client import BadResponse

MAX_EVENTS = 1_000
"""Events of one stream."""

MAX_LINES = 10_000
"""Lines of one stream."""

MAX_EVENT = 1_000_000
"""Bytes of one event, with its comments."""


@frozen
class Event:
    """An event: its name, "message" if it has none, and its data."""

    name: str
    data: bytes


class EventParser:
    """Parser of a stream in chunks. Raises BadResponse above MAX_EVENT bytes of an event or MAX_LINES lines."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._name = b""
        self._data: list[bytes] = []
        self._size = 0
        self._lines = 0
        self._ends_with_return = False

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """Yield the events that `chunk` completes."""
        self._size += len(chunk)
        if self._ends_with_return and chunk:
            # The return has ended the line already.
            chunk = chunk.removeprefix(b"\n")
            self._ends_with_return = False
        self._ends_with_return = self._ends_with_return or chunk.endswith(b"\r")
        chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        self._lines += chunk.count(b"\n")
        if self._lines > MAX_LINES:
            raise BadResponse(f"It sent a stream of more than {MAX_LINES:,} lines.")
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            whole = b"".join((*self._pieces, line))
            self._pieces.clear()
            if whole:
                self._read_line(whole)
                continue
            if self._data:
                yield Event(self._name.decode("utf-8", "replace") or "message", b"\n".join(self._data))
            self._name, self._data, self._size = b"", [], len(rest)
        if rest:
            self._pieces.append(rest)
        if self._size > MAX_EVENT:
            raise BadResponse(f"It sent an event of more than {MAX_EVENT:,} bytes.")

    def _read_line(self, line: bytes) -> None:
        field, _, value = line.partition(b":")
        if field == b"data":
            self._data.append(value.removeprefix(b" "))
        elif field == b"event":
            self._name = value.removeprefix(b" ")


class EventReader(Protocol):
    """The events of a response's body, one at a time; `close` ends the connection."""

    def __init__(self) -> None:
        self._parser = EventParser()
        self._events: deque[Event] = deque()
        self._count = 0
        self._waiting: Deferred[Event] | None = None
        self._end: Failure | None = None

    def dataReceived(self, data: bytes) -> None:
        if self._end is not None:
            return
        try:
            for event in self._parser.feed(data):
                self._count += 1
                if self._count > MAX_EVENTS:
                    raise BadResponse(f"It sent more than {MAX_EVENTS:,} events.")
                self._events.append(event)
        except BadResponse:
            self._finish(Failure())
            self.close()
            return
        self._wake()

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        if reason.check(ResponseDone, PotentialDataLoss):
            reason = Failure(BadResponse("It ended its stream of events without the answer."))
        self._finish(reason)

    def close(self) -> None:
        """Close the connection, if it is open."""
        if self.transport is not None:
            self.transport.loseConnection()

    async def next(self) -> Event:
        """Return the next event. Raises BadResponse, or the error of the connection, at the end of the stream."""
        if self._events:
            return self._events.popleft()
        if self._end is not None:
            self._end.raiseException()
        self._waiting = Deferred(lambda _: self.close())
        return await self._waiting

    def _finish(self, reason: Failure) -> None:
        if self._end is None:
            self._end = reason
            self._wake()

    def _wake(self) -> None:
        waiting = self._waiting
        if waiting is None or waiting.called:
            return
        if self._events:
            self._waiting = None
            waiting.callback(self._events.popleft())
        elif self._end is not None:
            self._waiting = None
            waiting.errback(self._end)


def events_of(response: IResponse) -> EventReader:
    reader = EventReader()
    response.deliverBody(reader)
    return reader

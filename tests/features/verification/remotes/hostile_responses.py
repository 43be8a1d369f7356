"""Responses of hostile remotes: endless, inflated or nested bodies and events."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from typing import Any

from twisted.internet.task import LoopingCall
from twisted.web.server import NOT_DONE_YET, Request


def _endless(request: Request, piece: bytes) -> Any:
    """Write `piece` as fast as the client reads, until it closes the connection."""
    writing = LoopingCall(request.write, piece)

    def stop(_: object) -> None:
        if writing.running:
            writing.stop()

    request.notifyFinish().addBoth(stop)
    writing.start(0.001)
    return NOT_DONE_YET


def _bomb(request: Request) -> bytes:
    request.setHeader(b"content-encoding", b"gzip")
    return gzip.compress(b" " * 50_000_000)


def _typed(kind: bytes, respond: Callable[[Request], Any]) -> Callable[[Request], Any]:
    def serve(request: Request) -> Any:
        request.setHeader(b"content-type", kind)
        return respond(request)

    return serve


HOSTILE: dict[str, Callable[[Request], Any]] = {
    "endless-body": _typed(b"application/json", lambda request: _endless(request, b" " * 65_536)),
    "bomb": _typed(b"application/json", _bomb),
    "deep": _typed(b"application/json", lambda _: b"[" * 50_000 + b"]" * 50_000),
    "many-values": _typed(b"application/json", lambda _: b"[" + b"0," * 400_000 + b"0]"),
    "endless-events": _typed(b"text/event-stream", lambda request: _endless(request, b"data: {}\n\n" * 1_000)),
    "long-event": _typed(b"text/event-stream", lambda request: _endless(request, b"data: " + b"x" * 65_536)),
}
"""What each kind of remote answers."""

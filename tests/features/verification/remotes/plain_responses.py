"""Responses of remotes that answer every request alike: a status, a page, a part of an answer, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from twisted.web.server import NOT_DONE_YET, Request

HTML = b"<!doctype html><title>Welcome</title><p>Nothing to see here."


def _status(code: int, body: bytes = b"", **fields: str) -> Callable[[Request], bytes]:
    def serve(request: Request) -> bytes:
        request.setResponseCode(code)
        for name, value in fields.items():
            request.setHeader(name.replace("_", "-"), value)
        return body

    return serve


def _cut(request: Request) -> Any:
    request.setHeader(b"content-type", b"application/json")
    request.setHeader(b"content-length", b"1000")
    request.write(b'{"jsonrpc": "2.0", ')
    return _closing(request)


def _closing(request: Request) -> Any:
    request.loseConnection()
    return NOT_DONE_YET


PLAIN: Mapping[str, Callable[[Request], Any]] = {
    "html": _status(200, HTML),
    "not-found": _status(404, HTML),
    "error-500": _status(500, HTML),
    "login-bare": _status(401),
    "login-well-known": _status(401),
    "login-forbidden": _status(403, HTML),
    "payment": _status(402),
    "busy": _status(429, retry_after="7200"),
    "cut": _cut,
    "closing": _closing,
    "silent": lambda _: NOT_DONE_YET,
}
"""What each kind of remote answers."""

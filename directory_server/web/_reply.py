"""The ways an answer leaves: every body is JSON with its length, and nothing keyed is kept by caches."""

from __future__ import annotations

from typing import Any

from twisted.web.server import Request

from .. import wire


def reply(request: Request, value: Any, status: int = 200, **headers: str) -> bytes:
    """Set the head of a JSON answer and return its body."""
    body = value if isinstance(value, bytes) else wire.encode(value)
    request.setResponseCode(status)
    request.setHeader("Content-Type", "application/json")
    request.setHeader("Content-Length", str(len(body)))
    request.setHeader("Cache-Control", "no-store")
    request.setHeader("X-Content-Type-Options", "nosniff")
    for name, text in headers.items():
        request.setHeader(name, text)
    return body


def empty(request: Request, status: int, **headers: str) -> bytes:
    """Set the head of an answer without a body and return that."""
    request.setResponseCode(status)
    if status not in (204, 304):
        # These must not have a length, or one of another answer (RFC 9110, section 8.6).
        request.setHeader("Content-Length", "0")
    for name, text in headers.items():
        request.setHeader(name, text)
    return b""

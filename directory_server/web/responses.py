"""The ways an answer leaves: every body is JSON with its length, and nothing keyed is kept by caches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import serialization
from ..http import Request

_JSON = {
    b"content-type": b"Content-Type: application/json",
    b"cache-control": b"Cache-Control: no-store",
    b"x-content-type-options": b"X-Content-Type-Options: nosniff",
}


def set_fields(request: Request, fields: Mapping[bytes, bytes]) -> None:
    """Say header fields that are written as they will be: the line of each by its name in lower case."""
    request.set_fields(fields)


def json_response(request: Request, value: Any, status: int = 200, **headers: str) -> bytes:
    """Set the head of a JSON answer and return its body."""
    body = value if isinstance(value, bytes) else serialization.encode(value)
    request.setResponseCode(status)
    set_fields(request, _JSON)
    request.setHeader(b"Content-Length", b"%d" % len(body))
    for name, text in headers.items():
        request.setHeader(name, text)
    return body


def empty_response(request: Request, status: int, **headers: str) -> bytes:
    """Set the head of an answer without a body and return that."""
    request.setResponseCode(status)
    if status not in (204, 304):
        # These must not have a length, or one of another answer (RFC 9110, section 8.6).
        request.setHeader("Content-Length", "0")
    for name, text in headers.items():
        request.setHeader(name, text)
    return b""

"""Response helpers: JSON bodies with Content-Length, not stored by caches."""

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
    """Set header fields from complete lines, keyed by field name in lower case."""
    request.set_fields(fields)


def json_response(request: Request, value: Any, status: int = 200, **headers: str) -> bytes:
    """Set status and headers of a JSON response, and return its body. `value` may be encoded already."""
    body = value if isinstance(value, bytes) else serialization.encode(value)
    request.setResponseCode(status)
    set_fields(request, _JSON)
    for name, text in headers.items():
        request.setHeader(name, text)
    return body


def empty_response(request: Request, status: int, **headers: str) -> bytes:
    """Set status and headers of a response without a body, and return the empty body."""
    request.setResponseCode(status)
    if status not in (204, 304):
        # Responses with these statuses must not have Content-Length: 0 (RFC 9110, section 8.6).
        request.setHeader("Content-Length", "0")
    for name, text in headers.items():
        request.setHeader(name, text)
    return b""

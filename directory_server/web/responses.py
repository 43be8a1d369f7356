"""Response helpers: JSON bodies with Content-Length, bodies that clients may store, and compression with gzip."""

from __future__ import annotations

import zlib
from hashlib import blake2b
from typing import Any

from attrs import frozen

from .. import serialization
from ..http import Request
from ..http.headers import value as header
from ..http.headers import values

_JSON = {
    b"content-type": b"Content-Type: application/json",
    b"cache-control": b"Cache-Control: no-store",
    b"x-content-type-options": b"X-Content-Type-Options: nosniff",
}


def list_path(request: Request) -> str:
    """Return the beginning of the paths of the list that a request has named, empty if it named none."""
    return f"/r/{request.list_name}" if request.list_name else ""


def json_response(request: Request, value: Any, status: int = 200, **headers: str) -> bytes:
    """Set status and headers of a JSON response, and return its body. `value` may be encoded already."""
    body = value if isinstance(value, bytes) else serialization.encode(value)
    request.setResponseCode(status)
    request.set_fields(_JSON)
    for name, text in headers.items():
        request.setHeader(name, text)
    return body


def entity_tag(body: bytes, coding: str = "") -> str:
    """Return the entity tag of a body in a content coding (RFC 9110, section 8.8.3.3)."""
    return f'"{blake2b(body, digest_size=12).hexdigest()}{coding}"'


def is_known(request: Request, etag: str) -> bool:
    """Return whether the client has the body with this entity tag (RFC 9110, section 13.1.2)."""
    known = [tag.strip().removeprefix("W/") for tag in (header(request, "If-None-Match") or "").split(",")]
    return etag in known or known == ["*"]


@frozen
class ReadAccess:
    """Access to paths that everybody may read if `mode` is public. An Authorization header is checked in every mode."""

    mode: str

    def is_open(self, request: Request) -> bool:
        """Return whether a request is read like everybody's, without authentication."""
        return self.mode == "public" and b"authorization" not in request.received

    def caching(self, request: Request) -> str:
        """Return the directive of Cache-Control that says who may store the response: `public` or `private`."""
        return "public" if self.is_open(request) else "private"


def conditional_response(
    request: Request, body: bytes, cache_control: str, *, etag: str | None = None, **headers: str
) -> bytes:
    """Set the headers of a cacheable response and return its body, empty if the client has it.

    `etag` is by default that of the body.
    """
    etag = entity_tag(body) if etag is None else etag
    if is_known(request, etag):
        # The other headers are those of the body (RFC 9110, section 15.4.5).
        response = empty_response(request, 304, **{name: text for name, text in headers.items() if name == "Vary"})
    else:
        response = json_response(request, body, 200, **headers)
    request.setHeader("ETag", etag)
    request.setHeader("Cache-Control", cache_control)
    return response


def empty_response(request: Request, status: int, **headers: str) -> bytes:
    """Set status and headers of a response without a body, and return the empty body."""
    request.setResponseCode(status)
    if status not in (204, 304):
        # Responses with these statuses must not have Content-Length: 0 (RFC 9110, section 8.6).
        request.setHeader("Content-Length", "0")
    for name, text in headers.items():
        request.setHeader(name, text)
    return b""


SMALLEST = 1_000
"""Bytes from which a body is compressed. A smaller one takes one packet anyway."""

_LEVEL = 6
_GZIP = 31
"""The window of 32 KB, with the header of gzip. The header has no time, so equal bodies have equal bytes."""


def gzip(body: bytes) -> bytes:
    """Return a body compressed with gzip. 40 KB take 0.3 ms."""
    compressor = zlib.compressobj(_LEVEL, wbits=_GZIP)
    return compressor.compress(body) + compressor.flush()


def accepts_gzip(request: Request) -> bool:
    """Return whether the client accepts gzip (RFC 9110, section 12.5.3)."""
    weights = dict(map(_weight, ",".join(values(request, "Accept-Encoding")).split(",")))
    return weights.get("gzip", weights.get("x-gzip", weights.get("*", False)))


def compressed(request: Request, body: bytes) -> bytes:
    """Return the body as the client accepts it, and set Content-Encoding. The caller sets Vary.

    Bodies must not have both a secret and text of the request: their size would reveal the secret to somebody who sees
    the size of responses (BREACH).
    """
    if len(body) < SMALLEST or not accepts_gzip(request):
        return body
    request.setHeader("Content-Encoding", "gzip")
    return gzip(body)


def _weight(item: str) -> tuple[str, bool]:
    """Return a coding, and whether its weight is above 0. An invalid weight counts as 0."""
    coding, _, parameter = item.partition(";")
    name, _, weight = parameter.strip().lower().partition("=")
    if not parameter.strip():
        return coding.strip().lower(), True
    try:
        return coding.strip().lower(), name.strip() == "q" and 0 < float(weight) <= 1
    except ValueError:
        return coding.strip().lower(), False

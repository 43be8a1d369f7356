"""Compression of response bodies with gzip (RFC 9110, section 8.4.1.3)."""

from __future__ import annotations

import zlib

from ..http import Request
from ..http.headers import values

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

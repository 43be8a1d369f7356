"""Header fields, cookies and the query string of a request."""

from __future__ import annotations

from functools import lru_cache

from ._request import Request


def values(request: Request, name: str) -> list[str]:
    """Return all values of a header in order, decoded as ISO 8859-1 (RFC 9110, section 5.5)."""
    return [value.decode("latin-1") for value in request.received.get(_key(name), ())]


def value(request: Request, name: str) -> str | None:
    """Return the last value of a header, or None if it is absent."""
    received = request.received.get(_key(name))
    return received[-1].decode("latin-1") if received else None


def cookie(request: Request, name: str) -> str | None:
    """Return the value of the first cookie called `name` (RFC 6265, section 5.4), or None if it is absent."""
    pairs = (part.strip().partition("=") for header in values(request, "Cookie") for part in header.split(";"))
    return next((text for key, _, text in pairs if key == name), None)


def query(request: Request) -> bytes:
    """Return the query string of the URL, undecoded."""
    return request.uri.partition(b"?")[2]


@lru_cache(100)
def _key(name: str) -> bytes:
    """Return the key of a header in `Request.received`."""
    return name.lower().encode()

"""What a request says beside its body, as text where that is safe, whatever bytes a client put there."""

from __future__ import annotations

from ._request import Request


def values(request: Request, name: str) -> list[str]:
    """Return every value of a header, in order; its bytes are ISO 8859-1 as far as HTTP knows (RFC 9110, 5.5)."""
    return [value.decode("latin-1") for value in request.received.get(name.lower().encode(), ())]


def value(request: Request, name: str) -> str | None:
    """Return the last value of a header, or None where it is absent."""
    found = values(request, name)
    return found[-1] if found else None


def cookie(request: Request, name: str) -> str | None:
    """Return the value of the first cookie of that name (RFC 6265, section 5.4), or None where there is none."""
    sent = (part.strip().partition("=") for header in values(request, "Cookie") for part in header.split(";"))
    return next((found for key, _, found in sent if key == name), None)


def query(request: Request) -> bytes:
    """Return the query of the URL as it stands there."""
    # Not request.args: twisted.web splits at semicolons, too, and drops what has no equals sign.
    found: bytes = request.uri.partition(b"?")[2]
    return found

"""Errors of a peer that an HTTP client does not accept."""

from __future__ import annotations

from ..domain.errors import DirectoryError


class BadResponse(DirectoryError):
    """A response exceeds a bound or is invalid; the message says what "it" did."""

    code = "bad_response"


class BadCertificate(DirectoryError):
    """The certificate of the peer is not trusted, or is for another host."""

    code = "bad_certificate"


def broken_off(error: Exception) -> str:
    """Return why a connection or response broke off: the last cause in `error`, without a full stop."""
    causes = [failure.value for failure in getattr(error, "reasons", [])] or [error]
    return str(causes[-1]).rstrip(".") or type(causes[-1]).__name__

"""Errors of a peer that an HTTP client does not accept."""

from __future__ import annotations

import os

from OpenSSL import SSL
from twisted.internet.defer import CancelledError
from twisted.internet.error import ConnectError, DNSLookupError, SSLError

from ..domain.errors import DirectoryError


class BadResponse(DirectoryError):
    """A response exceeds a bound or is invalid; the message says what "it" did."""

    code = "bad_response"


class BadCertificate(DirectoryError):
    """The certificate of the peer is not trusted, or is for another host."""

    code = "bad_certificate"


def unreachable(error: ConnectError | DNSLookupError) -> str:
    """Return that a peer cannot be reached and why, without a full stop."""
    if isinstance(error, DNSLookupError):
        return "It cannot be reached (its name is not known)"
    cause = os.strerror(error.osError) if error.osError else str(error).rstrip(".")
    return f"It cannot be reached ({cause[:1].lower()}{cause[1:]})"


def broken_off(error: Exception) -> str:
    """Return why a connection or response broke off: the last cause in `error`, without a full stop."""
    causes = [failure.value for failure in getattr(error, "reasons", [])] or [error]
    return str(causes[-1]).rstrip(".") or type(causes[-1]).__name__


def failed_exchange(error: Exception) -> str:
    """Return why a request that reached a peer failed. Raises CancelledError if it was cancelled."""
    for cause in [failure.value for failure in getattr(error, "reasons", [])] or [error]:
        if isinstance(cause, BadResponse | BadCertificate):
            return cause.message
        if isinstance(cause, CancelledError):
            raise cause
        if isinstance(cause, SSL.Error | SSLError):
            return "No TLS connection was possible."
    return f"Its response broke off: {broken_off(error)}."

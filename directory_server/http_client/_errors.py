"""Errors of a peer that an HTTP client does not accept."""

from __future__ import annotations

import os

from OpenSSL import SSL
from twisted.internet.defer import CancelledError
from twisted.internet.error import ConnectError, DNSLookupError, SSLError

from ..domain.errors import DirectoryError


class BadResponse(DirectoryError):
    """A response exceeds a bound or is invalid; the message says what "it" did.

    `is_passing` is whether another attempt may succeed.
    """

    code = "bad_response"

    def __init__(self, message: str, *, is_passing: bool = False) -> None:
        super().__init__(message)
        self.is_passing = is_passing


class BadCertificate(DirectoryError):
    """The certificate of the peer is not trusted, or is for another host."""

    code = "bad_certificate"


def failed_exchange(error: Exception) -> BadResponse:
    """Return why a request failed, for an error of the network. Raises CancelledError if it was cancelled."""
    if isinstance(error, DNSLookupError):
        return BadResponse("It cannot be reached (its name is not known).", is_passing=True)
    if isinstance(error, ConnectError):
        cause = os.strerror(error.osError) if error.osError else str(error).rstrip(".")
        return BadResponse(f"It cannot be reached ({cause[:1].lower()}{cause[1:]}).", is_passing=True)
    causes = [failure.value for failure in getattr(error, "reasons", [])] or [error]
    for each in causes:
        if isinstance(each, BadResponse):
            return each
        if isinstance(each, BadCertificate):
            # It may be renewed.
            return BadResponse(each.message, is_passing=True)
        if isinstance(each, CancelledError):
            raise each
        if isinstance(each, SSL.Error | SSLError):
            return BadResponse("No TLS connection was possible.", is_passing=True)
    reason = str(causes[-1]).rstrip(".") or type(causes[-1]).__name__
    return BadResponse(f"Its response broke off: {reason}.", is_passing=True)

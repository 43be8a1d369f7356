"""The end of a check before its last step: the outcome, and the errors of the network that cause it."""

from __future__ import annotations

from OpenSSL import SSL
from twisted.internet.error import (
    ConnectError,
    ConnectionClosed,
    DNSLookupError,
    NoRouteError,
    SSLError,
    TimeoutError,
    UserError,
)
from twisted.web.client import ResponseFailed, ResponseNeverReceived

from ....domain.checks import RemoteStatus
from ....http_client import BadCertificate, BadResponse


class Ended(Exception):
    """A check has ended with `status`. `detail` is a sentence; `target` is the URL of a redirect.

    `retry_after` is the seconds that the remote asks to wait, 0 for none.
    """

    def __init__(self, status: RemoteStatus, detail: str, *, target: str = "", retry_after: float = 0.0) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.target = target
        self.retry_after = retry_after


class OtherTransport(Ended):
    """A check has ended, unless the remote speaks the other transport than the declared one."""


NETWORK_ERRORS = (
    BadCertificate,
    BadResponse,
    ConnectError,
    ConnectionClosed,
    DNSLookupError,
    NoRouteError,
    OSError,
    ResponseFailed,
    ResponseNeverReceived,
    SSL.Error,
    SSLError,
    TimeoutError,
    UserError,
)
"""Exceptions of a request that a peer or the network can cause."""


def ended(error: BaseException) -> Ended:
    """Return the outcome of a request that failed with one of NETWORK_ERRORS."""
    causes = [failure.value for failure in getattr(error, "reasons", [])] or [error]
    for cause in causes:
        if isinstance(cause, BadCertificate):
            return Ended(RemoteStatus.TLS_ERROR, cause.message)
        if isinstance(cause, SSL.Error | SSLError):
            return Ended(RemoteStatus.TLS_ERROR, "No TLS connection was possible.")
        if isinstance(cause, BadResponse):
            return Ended(RemoteStatus.NOT_MCP, cause.message)
        if isinstance(cause, DNSLookupError):
            return Ended(RemoteStatus.UNREACHABLE, "Its host name is not known.")
    if getattr(error, "response", None) is not None and isinstance(causes[0], ConnectionClosed):
        return Ended(RemoteStatus.UNREACHABLE, "It closed the connection before the end of its answer.")
    cause = causes[-1]
    if isinstance(cause, ConnectionClosed) or not isinstance(cause, NETWORK_ERRORS):
        # A parser's error is of a response that is no HTTP.
        if isinstance(cause, ConnectionClosed):
            return Ended(RemoteStatus.UNREACHABLE, "It closed the connection without a complete answer.")
        return Ended(RemoteStatus.NOT_MCP, "It did not answer with HTTP.")
    return Ended(RemoteStatus.UNREACHABLE, f"No connection was possible: {str(cause).rstrip('.')}.")

"""Responses of Agents: their bodies, headers and redirects, and errors of a peer that a client does not accept."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar
from urllib.parse import SplitResult, urljoin, urlsplit

from OpenSSL import SSL
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.error import ConnectError, ConnectingCancelledError, DNSLookupError, SSLError
from twisted.internet.protocol import Protocol, connectionDone
from twisted.python.failure import Failure
from twisted.web.client import ResponseDone, ResponseFailed, ResponseNeverReceived
from twisted.web.http import PotentialDataLoss, stringToDatetime
from twisted.web.iweb import IResponse

from ..domain.errors import DirectoryError

T = TypeVar("T")

MAX_DELAY = 86_400.0
"""Maximum Retry-After in seconds; longer ones are cut."""

REDIRECT_CODES = frozenset({301, 302, 303, 307, 308})

_PORTS = {"http": 80, "https": 443}


class _Body(Protocol):
    """Passes a body to `write`, then fires `done`; cancelling `done` closes the connection."""

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self._write = write
        self.done: Deferred[None] = Deferred(lambda _: self._close())

    def dataReceived(self, data: bytes) -> None:
        self._write(data)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        if self.done.called:
            return
        # Without a length, the end of the connection ends the body; a truncated page is invalid JSON.
        if reason.check(ResponseDone, PotentialDataLoss):
            self.done.callback(None)
        else:
            self.done.errback(reason)

    def _close(self) -> None:
        assert self.transport is not None
        self.transport.loseConnection()


class _Unread(Protocol):
    """Closes the connection without reading the body."""

    def connectionMade(self) -> None:
        assert self.transport is not None
        self.transport.loseConnection()


async def read_body(response: IResponse, write: Callable[[bytes], object]) -> None:
    """Pass the body of `response` to `write`. To cancel it closes the connection."""
    if response.length:
        body = _Body(write)
        response.deliverBody(body)
        await body.done


def drop(response: IResponse) -> None:
    """Close the connection of `response` unless it has no body."""
    if response.length:
        response.deliverBody(_Unread())


def port_of(parts: SplitResult) -> int:
    """Return the port of an http or https URL. Raises ValueError for an invalid port or another scheme."""
    default = _PORTS.get(parts.scheme)
    if default is None:
        raise ValueError("not an http or https URL")
    return default if parts.port is None else parts.port


def redirect_target(url: str, location: str) -> tuple[str, bool]:
    """Return the absolute target of a redirect from `url`, and whether it has the same host and port, or is its https.

    The target is empty if it is no http(s) URL.
    """
    try:
        target = urljoin(url, location)
        from_, to = urlsplit(url), urlsplit(target)
        source = (from_.scheme, from_.hostname, port_of(from_))
        destination = (to.scheme, to.hostname, port_of(to))
    except ValueError:
        return "", False
    if not location or not to.hostname:
        return "", False
    return target, destination in (source, ("https", source[1], 443))


def header(response: IResponse, name: bytes) -> str:
    """Return the last header `name` if it is short printable ASCII, else an empty text; it is stored and sent back."""
    value: bytes = response.headers.getRawHeaders(name, [b""])[-1]
    text = value.decode("ascii", "replace")
    return text if text.isascii() and text.isprintable() and len(text) <= 1_000 else ""


def date_of(text: str) -> float | None:
    """Return an HTTP date as seconds since the epoch, None if it is invalid."""
    try:
        return float(stringToDatetime(text.encode("ascii"))) if text else None
    except (ValueError, LookupError, OverflowError):
        return None


def retry_after(response: IResponse, now: float | None = None) -> float:
    """Return the seconds of Retry-After (RFC 9110, section 10.2.3), 0 if it is absent or invalid.

    A date is compared with the one of the response, else with `now`.
    """
    text = header(response, b"retry-after")
    if text.isascii() and text.isdigit():
        return min(float(text[:9]), MAX_DELAY)
    until, date = date_of(text), date_of(header(response, b"date"))
    begin = now if date is None else date
    return 0.0 if until is None or begin is None else min(max(until - begin, 0.0), MAX_DELAY)


async def cancellable(fetching: Coroutine[Deferred[Any], Any, T]) -> T:
    """Return the result of `fetching`; raise CancelledError for each of the errors with which Agents report that."""
    try:
        return await fetching
    except ConnectingCancelledError:
        raise CancelledError from None
    except (ResponseFailed, ResponseNeverReceived) as error:
        if any(failure.check(CancelledError) for failure in error.reasons):
            raise CancelledError from None
        raise


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
    for reported in causes:
        if isinstance(reported, BadResponse):
            return reported
        if isinstance(reported, BadCertificate):
            # It may be renewed.
            return BadResponse(reported.message, is_passing=True)
        if isinstance(reported, CancelledError):
            raise reported
        if isinstance(reported, SSL.Error | SSLError):
            return BadResponse("No TLS connection was possible.", is_passing=True)
    reason = str(causes[-1]).rstrip(".") or type(causes[-1]).__name__
    return BadResponse(f"Its response broke off: {reason}.", is_passing=True)

"""One GET of an upstream, of whose every byte nothing is taken for granted."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar
from urllib.parse import urljoin, urlsplit

from attrs import field, frozen
from treq.client import HTTPClient
from twisted.internet.defer import CancelledError, Deferred, TimeoutError
from twisted.internet.error import ConnectError, ConnectingCancelledError, ConnectionLost, DNSLookupError
from twisted.internet.protocol import Protocol, connectionDone
from twisted.internet.task import deferLater
from twisted.python.failure import Failure
from twisted.web.client import ResponseDone, ResponseFailed, ResponseNeverReceived
from twisted.web.http import PotentialDataLoss, stringToDatetime
from twisted.web.http_headers import Headers
from twisted.web.iweb import IResponse

from .. import __version__
from ._errors import UpstreamFailed

T = TypeVar("T")

DEADLINE = 30.0
"""Seconds in which a page has to be here, redirects included."""

REDIRECTS = 3
"""Redirects that are followed, each to where upstream is already."""

MAX_DELAY = 86_400.0
"""Seconds, the longest Retry-After that is believed."""

USER_AGENT = f"directory-server/{__version__} (mirror)"

_MOVED = frozenset({301, 302, 303, 307, 308})
_PORTS = {"http": 80, "https": 443}


@frozen
class Validators:
    """What an answer says about itself, so that it need not be sent again (RFC 9110, section 8.8)."""

    etag: str = ""
    modified: str = ""

    def headers(self) -> dict[str, str]:
        """Return what makes a request conditional."""
        given = {"If-None-Match": self.etag, "If-Modified-Since": self.modified}
        return {name: value for name, value in given.items() if value}


@frozen
class Response:
    """What came: whether it is `unchanged` since the validators that were sent, what it says of itself, and its Date.

    `date` is seconds since the epoch, None where upstream does not say it.
    """

    unchanged: bool
    validators: Validators
    date: float | None


@frozen(eq=False)
class Fetcher:
    """Gets what upstreams have, by HTTP, in bounded time; `client` bounds the bytes, `now` is the time of day."""

    _client: HTTPClient
    _clock: Any
    _now: Callable[[], float]
    _headers: Mapping[str, str] = field(factory=dict)

    async def get(
        self,
        url: str,
        write: Callable[[bytes], object],
        *,
        validators: Validators = Validators(),
        deadline: float = DEADLINE,
    ) -> Response:
        """Have `write` take what is at `url`, unless the `validators` still hold, within `deadline` seconds.

        Raises UpstreamFailed.
        """
        getting = Deferred.fromCoroutine(_cancellable(self._get(url, write, validators)))
        try:
            return await getting.addTimeout(deadline, self._clock)
        except TimeoutError:
            raise _unreached(f"It did not answer within {deadline:g} seconds") from None
        except DNSLookupError:
            raise _unreached("It cannot be reached: its name is not known") from None
        except ConnectError as error:
            raise _unreached(f"It cannot be reached: {str(error).rstrip('.')}") from None
        except (ConnectionLost, ResponseFailed, ResponseNeverReceived) as error:
            for failure in getattr(error, "reasons", []):
                if failure.check(UpstreamFailed):
                    raise failure.value from None
            raise _unreached(f"Its answer broke off: {_reason(error)}") from None

    async def pause(self, seconds: float) -> None:
        """Wait for so long."""
        await deferLater(self._clock, seconds)

    async def _get(self, url: str, write: Callable[[bytes], object], validators: Validators) -> Response:
        headers = Headers()
        for name, value in {
            "Accept": "application/json",
            "User-Agent": USER_AGENT,
            **self._headers,
            **validators.headers(),
        }.items():
            headers.setRawHeaders(name, [value])
        for _ in range(REDIRECTS + 1):
            try:
                response = await self._client.request(
                    "GET", url, headers=headers, allow_redirects=False, unbuffered=True, reactor=self._clock
                )
            except ValueError:
                raise UpstreamFailed("It is, or redirects to, what is no address.") from None
            if response.code not in _MOVED:
                break
            # Nothing is read of it, and the connection is not used again.
            _drop(response)
            url = _redirected(url, _header(response, b"location"))
        else:
            raise UpstreamFailed(f"It redirects more than {REDIRECTS} times.")
        answer = Response(
            response.code == 304,
            Validators(_header(response, b"etag"), _header(response, b"last-modified")),
            _date(_header(response, b"date")),
        )
        if answer.unchanged and not validators.headers():
            _drop(response)
            raise UpstreamFailed("It answered 304, though it was not asked whether anything has changed.")
        if response.code not in (200, 304):
            _drop(response)
            again = response.code in (408, 429) or response.code >= 500
            raise UpstreamFailed(f"It answered {response.code}.", retry_after=self._delay(response), resumable=again)
        await _collected(response, write)
        return answer

    def _delay(self, response: IResponse) -> float:
        """Return the seconds of Retry-After (RFC 9110, section 10.2.3), 0 where there is none to be read."""
        text = _header(response, b"retry-after")
        if text.isascii() and text.isdigit():
            return min(float(text[:9]), MAX_DELAY)
        until, date = _date(text), _date(_header(response, b"date"))
        if until is None:
            return 0.0
        return min(max(until - (self._now() if date is None else date), 0.0), MAX_DELAY)


class _Body(Protocol):
    """Has `write` take a body, then fires `done`; cancelling that closes the connection."""

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self._write = write
        self.done: Deferred[None] = Deferred(lambda _: self._close())

    def dataReceived(self, data: bytes) -> None:
        self._write(data)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        if self.done.called:
            return
        # Where no length was sent, the end of the connection is the end of the body; half a page shows as no JSON.
        if reason.check(ResponseDone, PotentialDataLoss):
            self.done.callback(None)
        else:
            self.done.errback(reason)

    def _close(self) -> None:
        assert self.transport is not None
        self.transport.loseConnection()


class _Unread(Protocol):
    """Reads nothing, and closes the connection, which nobody can use again."""

    def connectionMade(self) -> None:
        assert self.transport is not None
        self.transport.loseConnection()


async def _collected(response: IResponse, write: Callable[[bytes], object]) -> None:
    if response.length:
        body = _Body(write)
        response.deliverBody(body)
        await body.done


def _drop(response: IResponse) -> None:
    if response.length:
        response.deliverBody(_Unread())


def _redirected(url: str, location: str) -> str:
    """Return where a redirect leads; no further than to the same host and port, or to its https.

    So it cannot lead to an address that only this machine reaches, and nobody else gets the headers.
    """
    try:
        target = urljoin(url, location)
        from_, to = urlsplit(url), urlsplit(target)
        here = (from_.scheme, from_.hostname, from_.port or _PORTS[from_.scheme])
        there = (to.scheme, to.hostname, to.port or _PORTS[to.scheme])
    except (ValueError, KeyError):
        location = ""
    if not location:
        raise UpstreamFailed("It redirects to what is no address.")
    if there not in (here, ("https", here[1], 443)):
        raise UpstreamFailed("It redirects to another host, which is not followed. Set the url that it leads to.")
    return target


def _header(response: IResponse, name: bytes) -> str:
    """Return the last header of that name if it is short ASCII, else nothing: it is kept, and sent back as it came."""
    found: bytes = response.headers.getRawHeaders(name, [b""])[-1]
    text = found.decode("ascii", "replace")
    return text if text.isascii() and text.isprintable() and len(text) <= 1_000 else ""


def _date(text: str) -> float | None:
    try:
        return float(stringToDatetime(text.encode("ascii"))) if text else None
    except (ValueError, LookupError, OverflowError):
        return None


async def _cancellable(getting: Coroutine[Deferred[Any], Any, T]) -> T:
    """Return what `getting` does; where it was cancelled it says so, which Agents say in ways of their own."""
    try:
        return await getting
    except ConnectingCancelledError:
        raise CancelledError from None
    except (ResponseFailed, ResponseNeverReceived) as error:
        if any(failure.check(CancelledError) for failure in error.reasons):
            raise CancelledError from None
        raise


def _unreached(reason: str) -> UpstreamFailed:
    return UpstreamFailed(f"{reason}.", resumable=True)


def _reason(error: Exception) -> str:
    causes = [failure.value for failure in getattr(error, "reasons", [])] or [error]
    return str(causes[-1]).rstrip(".") or type(causes[-1]).__name__

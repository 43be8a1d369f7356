"""HTTP GET of an untrusted upstream, with limits on time, redirects and headers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import field, frozen
from treq.client import HTTPClient
from twisted.internet.defer import Deferred, TimeoutError
from twisted.internet.error import ConnectError, ConnectionLost, DNSLookupError
from twisted.internet.task import deferLater
from twisted.web.client import ResponseFailed, ResponseNeverReceived
from twisted.web.http_headers import Headers

from .. import __version__
from ..http_client import (
    REDIRECT_CODES,
    BadCertificate,
    BadResponse,
    broken_off,
    cancellable,
    date_of,
    drop,
    header,
    read_body,
    redirect_target,
    retry_after,
    unreachable,
)
from ._upstream import UpstreamFailed

DEADLINE = 30.0
"""Timeout of a page in seconds, redirects included."""

REDIRECTS = 3
"""Maximum redirects of a request, each to the same host."""

USER_AGENT = f"directory-server/{__version__} (mirror)"


@frozen
class Validators:
    """Validators of a response, for conditional requests (RFC 9110, section 8.8)."""

    etag: str = ""
    modified: str = ""

    def headers(self) -> dict[str, str]:
        """Return the headers of a conditional request."""
        headers = {"If-None-Match": self.etag, "If-Modified-Since": self.modified}
        return {name: value for name, value in headers.items() if value}


@frozen
class Response:
    """A response: whether it is `unchanged` (304), its validators, and its Date.

    `date` is seconds since the epoch, None if the upstream does not send it.
    """

    unchanged: bool
    validators: Validators
    date: float | None


@frozen(eq=False)
class Fetcher:
    """HTTP client with a deadline per request; `client` limits the bytes, `now` returns seconds since the epoch."""

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
        """Pass the body at `url` to `write`, unless it is unchanged since `validators`. Raises UpstreamFailed.

        The timeout is `deadline` seconds.
        """
        fetching = Deferred.fromCoroutine(cancellable(self._get(url, write, validators)))
        try:
            return await fetching.addTimeout(deadline, self._clock)
        except TimeoutError:
            raise _resumable(f"It did not answer within {deadline:g} seconds") from None
        except (DNSLookupError, ConnectError) as error:
            raise _resumable(unreachable(error)) from None
        except BadResponse as error:
            raise UpstreamFailed(error.message) from None
        except (ConnectionLost, ResponseFailed, ResponseNeverReceived) as error:
            for failure in getattr(error, "reasons", []):
                if failure.check(BadResponse, BadCertificate):
                    # The certificate may be renewed; a response out of bounds stays so.
                    resumable = failure.check(BadCertificate) is not None
                    raise UpstreamFailed(failure.value.message, resumable=resumable) from None
            raise _resumable(f"Its answer broke off: {broken_off(error)}") from None

    async def pause(self, seconds: float) -> None:
        """Wait for `seconds`."""
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
                raise UpstreamFailed("Its URL, or the URL it redirects to, is invalid.") from None
            if response.code not in REDIRECT_CODES:
                break
            # The body is not read, so the connection is closed.
            drop(response)
            url = _redirected(url, header(response, b"location"))
        else:
            raise UpstreamFailed(f"It redirects more than {REDIRECTS} times.")
        result = Response(
            response.code == 304,
            Validators(header(response, b"etag"), header(response, b"last-modified")),
            date_of(header(response, b"date")),
        )
        if result.unchanged and not validators.headers():
            drop(response)
            raise UpstreamFailed("It answered 304 to a request without validators.")
        if response.code not in (200, 304):
            drop(response)
            resumable = response.code in (408, 429) or response.code >= 500
            raise UpstreamFailed(
                f"It answered {response.code}.", retry_after=retry_after(response, self._now()), resumable=resumable
            )
        await read_body(response, write)
        return result


def _redirected(url: str, location: str) -> str:
    """Return the target of a redirect, which must have the same host and port, or be its https. Raises UpstreamFailed.

    So a redirect reaches no internal address, and no other host gets the headers.
    """
    target, same_host = redirect_target(url, location)
    if not target:
        raise UpstreamFailed("It redirects to an invalid URL.")
    if not same_host:
        raise UpstreamFailed("It redirects to another host, which is not followed. Set url to the target.")
    return target


def _resumable(reason: str) -> UpstreamFailed:
    return UpstreamFailed(f"{reason}.", resumable=True)

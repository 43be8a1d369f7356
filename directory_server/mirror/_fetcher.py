"""HTTP GET of an untrusted upstream, with limits on time, redirects and headers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from itertools import count
from typing import Any

from attrs import field, frozen
from treq.client import HTTPClient
from twisted.internet.task import deferLater
from twisted.web.http_headers import Headers

from .. import __version__
from ..http_client import (
    REDIRECT_CODES,
    BadResponse,
    date_of,
    drop,
    exchanged,
    header,
    read_body,
    redirect_target,
    retry_after,
    target_of,
)
from ._upstream import UpstreamFailed

DEADLINE = 30.0
"""Timeout of a page in seconds, redirects included."""

REDIRECTS = 3
"""Maximum redirects of a request, each to the same host."""

MAX_RETRY_AFTER, MAX_ATTEMPTS = 30.0, 5
"""Maximum Retry-After in seconds for a retry within the sync run, and maximum attempts per page."""

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
    """HTTP client with a deadline per request; `client` limits the bytes, `now` returns seconds since the epoch.

    With `home`, a URL, `client` checks addresses: redirects to other hosts are followed, and only requests to the
    origin of `home` have `headers`.
    """

    _client: HTTPClient
    _clock: Any
    _now: Callable[[], float]
    _headers: Mapping[str, str] = field(factory=dict)
    _home: str = ""

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
        try:
            return await exchanged(self._get(url, write, validators), deadline, self._clock)
        except BadResponse as error:
            raise UpstreamFailed(error.message, resumable=error.is_passing) from None

    async def pause(self, seconds: float) -> None:
        """Wait for `seconds`."""
        await deferLater(self._clock, seconds)

    async def _get(self, url: str, write: Callable[[bytes], object], validators: Validators) -> Response:
        for _ in range(REDIRECTS + 1):
            fields = self._fields(url, validators)
            try:
                response = await self._client.request(
                    "GET",
                    url,
                    headers=fields,
                    allow_redirects=False,
                    unbuffered=True,
                    reactor=self._clock,
                )
            except ValueError:
                raise UpstreamFailed("Its URL, or the URL it redirects to, is invalid.") from None
            if response.code not in REDIRECT_CODES:
                break
            # The body is not read, so the connection is closed.
            drop(response)
            url = _redirected(url, header(response, b"location"), any_host=bool(self._home))
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
                f"It answered {response.code}.",
                retry_after=retry_after(response, self._now()),
                resumable=resumable,
                is_absent=response.code in (404, 410),
            )
        await read_body(response, write)
        return result

    def _fields(self, url: str, validators: Validators) -> Headers:
        """Return the header fields of a request. Raises InvalidTarget."""
        is_home = not self._home or target_of(url).origin == target_of(self._home).origin
        given = {**(self._headers if is_home else {}), **validators.headers()}
        fields = {"Accept": "application/json", "User-Agent": USER_AGENT, **given}
        return Headers({name: [value] for name, value in fields.items()})


async def get_patiently(
    fetch: Fetcher, url: str, validators: Validators, deadline: float, renew_lease: Callable[[], Awaitable[None]]
) -> tuple[Response, bytes]:
    """Return the response at `url` and its body, after retries within MAX_RETRY_AFTER seconds. Raises UpstreamFailed.

    Upstreams with a rate limit answer 429 during a long sync run. The timeout of an attempt is `deadline` seconds.
    """
    for attempt in count(1):
        chunks: list[bytes] = []
        try:
            response = await fetch.get(url, chunks.append, validators=validators, deadline=deadline)
            break
        except UpstreamFailed as error:
            if attempt == MAX_ATTEMPTS or not 0 < error.retry_after <= MAX_RETRY_AFTER:
                raise
            await fetch.pause(error.retry_after)
            await renew_lease()
    return response, b"".join(chunks)


def _redirected(url: str, location: str, *, any_host: bool) -> str:
    """Return the target of a redirect, which must have the same host and port, or be its https. Raises UpstreamFailed.

    So a redirect reaches no internal address, and no other host gets the headers. With `any_host` it may have another
    host, but no http instead of https.
    """
    target, same_host = redirect_target(url, location)
    if not target:
        raise UpstreamFailed("It redirects to an invalid URL.")
    if not same_host and any_host and target.startswith("http:") and url.startswith("https:"):
        raise UpstreamFailed("It redirects to a URL without TLS.")
    if not same_host and not any_host:
        raise UpstreamFailed("It redirects to another host, which is not followed. Set url to the target.")
    return target

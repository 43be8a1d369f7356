"""Client that gets small documents: bounded in bytes and time, without redirects."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar
from urllib.parse import urlencode

from attrs import frozen
from OpenSSL import SSL
from twisted.internet.defer import Deferred
from twisted.internet.error import (
    ConnectError,
    ConnectionClosed,
    ConnectionDone,
    ConnectionLost,
    DNSLookupError,
    SSLError,
)
from twisted.python.failure import Failure
from twisted.web.client import Agent, ResponseFailed, ResponseNeverReceived
from twisted.web.http_headers import Headers
from twisted.web.iweb import IAgent, IResponse

from .. import __version__
from ..domain.ports.tracing import Trace, untraced
from ._bounded_agent import BoundedAgent, HeadBoundedPool
from ._certificates import CertificatePolicy
from ._checked_agent import InvalidTarget, NotAllowed
from ._errors import BadCertificate, BadResponse, failed_exchange
from ._requests import RequestBody
from ._responses import cancellable, drop, read_body

CONNECT = 5.0
"""Timeout of a connection attempt in seconds."""

T = TypeVar("T")

_NETWORK_ERRORS = (
    *(BadCertificate, ConnectError, ConnectionClosed, DNSLookupError, ResponseFailed, ResponseNeverReceived),
    *(SSL.Error, SSLError),
)


async def exchanged(exchange: Coroutine[Any, Any, T], deadline: float, clock: Any) -> T:
    """Return the result of an exchange with a peer, within `deadline` seconds of `clock`.

    Raises BadResponse for every error of the network, of the peer and of its address; the message says what "it" did.
    """
    running = Deferred.fromCoroutine(cancellable(exchange))
    try:
        return await running.addTimeout(deadline, clock, _late)
    except (InvalidTarget, NotAllowed) as error:
        raise BadResponse(error.message) from None
    except _NETWORK_ERRORS as error:
        raise failed_exchange(error) from None


@frozen(eq=False)
class DocumentClient:
    """Gets documents. Hosts that others name need a CheckedAgent. `purpose` is a part of the user agent.

    With `keeps`, the agent keeps connections. A request is sent again if the peer has closed a kept one just before.
    """

    _agent: IAgent
    _clock: Any
    _purpose: str
    _keeps: bool = False

    async def get(
        self,
        url: str,
        *,
        max_bytes: int,
        deadline: float,
        accept: str = "application/json",
        authorization: str = "",
        form: Mapping[str, str] | None = None,
        json: bytes = b"",
    ) -> bytes:
        """Return the body of the response 200 to a GET of `url`, or to a POST of `form` or `json`.

        `deadline` is in seconds, `authorization` the value of this header. Raises BadResponse for everything else, a
        redirect too; its message says what "it" did.
        """
        content = json if form is None else urlencode(form).encode("ascii")
        kind = "application/json" if form is None else "application/x-www-form-urlencoded"
        headers = Headers(
            {
                "Accept": [accept],
                "Accept-Encoding": ["gzip"],
                "User-Agent": [f"directory-server/{__version__} ({self._purpose})"],
                **({"Authorization": [authorization]} if authorization else {}),
                **({"Content-Type": [kind]} if content else {}),
            }
        )
        return await exchanged(self._fetch(url, max_bytes, headers, content), deadline, self._clock)

    async def _fetch(self, url: str, max_bytes: int, headers: Headers, content: bytes) -> bytes:
        try:
            response = await self._request(url, max_bytes, headers, content)
        except ResponseNeverReceived as error:
            if not self._keeps or not all(failure.check(ConnectionDone, ConnectionLost) for failure in error.reasons):
                raise
            response = await self._request(url, max_bytes, headers, content)
        if response.code != 200:
            drop(response)
            raise BadResponse(f"It answered {response.code}.")
        received = bytearray()
        await read_body(response, received.extend)
        return bytes(received)

    async def _request(self, url: str, max_bytes: int, headers: Headers, content: bytes) -> IResponse:
        agent, producer = BoundedAgent(self._agent, max_bytes), RequestBody(content) if content else None
        return await agent.request(b"POST" if content else b"GET", url.encode("ascii"), headers, producer)


def document_client(reactor: Any, purpose: str, trace: Trace = untraced) -> DocumentClient:
    """Return a client on `reactor`. It trusts the machine's certificate authorities and keeps no connections."""
    pool = HeadBoundedPool(reactor, persistent=False)
    agent = Agent(reactor, CertificatePolicy(), connectTimeout=CONNECT, pool=pool)
    return DocumentClient(trace("upstream", agent), reactor, purpose)


def _late(result: Any, deadline: float) -> Failure:
    """Return the failure of a request that was cancelled, with whatever error the Agent reports that."""
    return Failure(BadResponse(f"It did not answer within {deadline:g} seconds.", is_passing=True))

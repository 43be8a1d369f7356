"""HTTP client of one check: connects only to addresses that it has checked, within bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from attrs import frozen
from twisted.internet.error import ConnectionDone, ConnectionLost
from twisted.web.client import ResponseNeverReceived
from twisted.web.http_headers import Headers
from twisted.web.iweb import IResponse

from .... import http_client
from ....domain.checks import RemoteStatus
from ....domain.ports.runtime import Offload
from ....http_client import (
    REDIRECT_CODES,
    BoundedAgent,
    CheckedAgent,
    CheckedNetwork,
    InvalidTarget,
    NotAllowed,
    RequestBody,
    Target,
    drop,
    header,
    read_body,
    redirect_target,
)
from ._ending import Ended

T = TypeVar("T")

MAX_REDIRECTS = 3
"""Redirects of one request."""


def target_of(url: str) -> Target:
    """Return the target of `url`. Raises Ended if it cannot be checked or its port is not allowed."""
    try:
        return http_client.target_of(url)
    except InvalidTarget as error:
        raise Ended(RemoteStatus.NOT_CHECKABLE, error.message) from None
    except NotAllowed as error:
        raise Ended(RemoteStatus.NOT_ALLOWED, error.message) from None


@frozen(eq=False)
class Network:
    """Shared parts of the clients of all checks."""

    addresses: CheckedNetwork
    user_agent: str


class Client:
    """HTTP client of one check. A host is looked up once; all connections use the addresses that were checked."""

    def __init__(self, network: Network) -> None:
        self._user_agent = network.user_agent
        self._answered: set[str] = set()
        self._agent = CheckedAgent(network.addresses)

    async def close(self) -> None:
        """Close the idle connections. Others end with the reading of their responses."""
        await self._agent.close()

    async def request(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] = {},
        body: bytes = b"",
        *,
        max_bytes: int,
        follow: bool = True,
    ) -> IResponse:
        """Return the response, after redirects on the same host. Its body fails above `max_bytes`.

        Raises Ended, for a redirect to another host too, and the errors of the network (NETWORK_ERRORS).
        """
        for _ in range(MAX_REDIRECTS + 1):
            target = target_of(url)
            try:
                response = await self._send(method, target.url, headers, body, max_bytes)
            except NotAllowed as error:
                raise Ended(RemoteStatus.NOT_ALLOWED, error.message) from None
            if response.code not in REDIRECT_CODES or not follow:
                return response
            location = header(response, b"location")
            drop(response)
            to, same_host = redirect_target(target.url, location)
            if not to:
                raise Ended(RemoteStatus.NOT_MCP, "It redirects to an invalid URL.")
            if not same_host:
                raise Ended(RemoteStatus.MOVED, "It redirects to another host or port.", target=to)
            if method == "POST" and response.code == 303:
                raise Ended(RemoteStatus.NOT_MCP, "It answered a POST with 303, which asks for a GET.")
            url = to
        raise Ended(RemoteStatus.NOT_MCP, f"It redirects more than {MAX_REDIRECTS} times.")

    async def get(self, url: str, *, max_bytes: int, accept: str) -> tuple[int, bytes]:
        """Return status and body of a GET."""
        response = await self.request("GET", url, {"Accept": accept}, max_bytes=max_bytes)
        return response.code, await body_of(response)

    async def _send(self, method: str, url: str, headers: Mapping[str, str], body: bytes, max_bytes: int) -> IResponse:
        fields = Headers({"User-Agent": [self._user_agent], "Accept-Encoding": ["gzip"]})
        for name, value in headers.items():
            fields.setRawHeaders(name, [value])
        agent = BoundedAgent(self._agent, max_bytes)
        origin = target_of(url).origin
        producer = RequestBody(body) if method == "POST" else None
        try:
            response = await agent.request(method.encode(), url.encode("ascii"), fields, producer)
        except ResponseNeverReceived as error:
            # The server may have closed the kept connection just before; a new one is tried once.
            is_closed = all(reason.check(ConnectionDone, ConnectionLost) for reason in error.reasons)
            if origin not in self._answered or not is_closed:
                raise
            self._answered.discard(origin)
            response = await agent.request(method.encode(), url.encode("ascii"), fields, producer)
        self._answered.add(origin)
        return response


MAX_INLINE = 4_096
"""Bytes that are decoded without a thread."""


async def decoded(offload: Offload, decode: Callable[..., T], body: bytes, *arguments: object) -> T:
    """Return `decode(*arguments, body)`, called in a thread if the body is large."""
    if len(body) <= MAX_INLINE:
        return decode(*arguments, body)
    return await offload(decode, *arguments, body)


async def body_of(response: IResponse) -> bytes:
    """Return the body of `response`. Raises the errors of the network."""
    body = bytearray()
    await read_body(response, body.extend)
    return bytes(body)

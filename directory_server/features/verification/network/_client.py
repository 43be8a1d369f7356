"""HTTP client of one check: connects only to addresses that it has checked, within bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from socket import SOCK_STREAM, gaierror, getaddrinfo
from typing import Any
from urllib.parse import urlsplit

from attrs import field, frozen
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.endpoints import HostnameEndpoint, wrapClientTLS
from twisted.internet.error import ConnectionDone, ConnectionLost, DNSLookupError
from twisted.internet.interfaces import (
    IHostnameResolver,
    IHostResolution,
    IReactorPluggableNameResolver,
    IResolutionReceiver,
    IStreamClientEndpoint,
)
from twisted.web.client import URI, Agent, ResponseNeverReceived
from twisted.web.http_headers import Headers
from twisted.web.iweb import IAgentEndpointFactory, IPolicyForHTTPS, IResponse
from zope.interface import implementer

from .... import hosts
from ....domain.checks import RemoteStatus
from ....domain.ports.runtime import Offload
from ....http_client import (
    REDIRECT_CODES,
    BoundedAgent,
    HeadBoundedPool,
    RequestBody,
    drop,
    header,
    port_of,
    read_body,
    redirect_target,
)
from ._addresses import Networks, is_allowed, is_open_port
from ._ending import Ended

MAX_REDIRECTS = 3
"""Redirects of one request."""

MAX_ADDRESSES = 32
"""Addresses of a name. All of them are checked."""

MAX_TRIED = 4
"""Addresses of a name that are tried."""

MAX_URL = 2_000
"""Characters of a URL."""


@frozen
class Target:
    """Host and port of a URL. `url` has the host in ASCII, `origin` is the URL without its path."""

    url: str
    origin: str
    host: str
    port: int


def target_of(url: str) -> Target:
    """Return the target of `url`. Raises Ended if it cannot be checked or its port is not allowed."""
    if len(url) > MAX_URL or not url.isprintable() or " " in url:
        raise Ended(RemoteStatus.NOT_CHECKABLE, "Its URL is too long or has invalid characters.")
    if "{" in url or "}" in url:
        raise Ended(RemoteStatus.NOT_CHECKABLE, "Its URL has variables.")
    try:
        parts = urlsplit(url)
        host = hosts.read(parts.hostname or "").name
        port = port_of(parts)
        netloc = host if parts.port is None else f"{host}:{port}"
        # The target of a request has a path (RFC 9112, section 3.2.1).
        plain = parts._replace(netloc=netloc, path=parts.path or "/", fragment="")
        plain.geturl().encode("ascii")
    except ValueError:
        raise Ended(RemoteStatus.NOT_CHECKABLE, "Its URL is no valid http or https URL.") from None
    if parts.username is not None or parts.password is not None:
        raise Ended(RemoteStatus.NOT_CHECKABLE, "Its URL has a user name or password.")
    if not is_open_port(port):
        raise Ended(RemoteStatus.NOT_ALLOWED, f"Port {port} is not allowed.")
    return Target(plain.geturl(), f"{parts.scheme}://{plain.netloc}", host.strip("[]"), port)


@frozen(eq=False)
class Network:
    """Shared parts of the clients of all checks. `lookup` runs the look-ups of names, which may take long."""

    reactor: Any
    policy: IPolicyForHTTPS
    allowed: Networks
    lookup: Offload
    user_agent: str
    connect_timeout: float
    resolve: Callable[..., Sequence[Any]] = getaddrinfo


class Client:
    """HTTP client of one check. A host is looked up once; all connections use the addresses that were checked."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._checked: dict[str, Sequence[str]] = {}
        self._answered: set[str] = set()
        self._pool = HeadBoundedPool(network.reactor)
        self._pool.maxPersistentPerHost = 1
        endpoints = _CheckedEndpoints(network.reactor, network.policy, network.connect_timeout, self._checked)
        self._agent = Agent.usingEndpointFactory(network.reactor, endpoints, self._pool)

    async def close(self) -> None:
        """Close the idle connections. Others end with the reading of their responses."""
        await self._pool.closeCachedConnections()

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
            await self._check(target.host)
            response = await self._send(method, target.url, headers, body, max_bytes)
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
        fields = Headers({"User-Agent": [self._network.user_agent], "Accept-Encoding": ["gzip"]})
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

    async def _check(self, host: str) -> None:
        """Look `host` up, unless this was done before. Raises Ended if one of its addresses is not allowed."""
        if host in self._checked:
            return
        try:
            found = await self._network.lookup(self._network.resolve, host, None, type=SOCK_STREAM)
        except (gaierror, UnicodeError):
            raise DNSLookupError(host) from None
        addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
        if not addresses:
            raise DNSLookupError(host)
        if len(addresses) > MAX_ADDRESSES:
            raise Ended(RemoteStatus.NOT_ALLOWED, f"Its name has more than {MAX_ADDRESSES} addresses.")
        for address in addresses:
            if not is_allowed(address, self._network.allowed):
                raise Ended(RemoteStatus.NOT_ALLOWED, f"Its address {address} is not public.")
        self._checked[host] = addresses[:MAX_TRIED]


async def body_of(response: IResponse) -> bytes:
    """Return the body of `response`. Raises the errors of the network."""
    body = bytearray()
    await read_body(response, body.extend)
    return bytes(body)


@implementer(IAgentEndpointFactory)
@frozen(eq=False)
class _CheckedEndpoints:
    """Endpoints that connect to the checked addresses. TLS and the Host header have the name."""

    _reactor: Any
    _policy: IPolicyForHTTPS
    _timeout: float
    _checked: Mapping[str, Sequence[str]]

    def endpointForURI(self, uri: URI) -> IStreamClientEndpoint:
        host = uri.host.decode("ascii").strip("[]")
        reactor = _CheckedReactor(self._reactor, _CheckedResolver(self._checked[host]))
        # The name is not looked up: the reactor's resolver is replaced.
        endpoint = HostnameEndpoint(reactor, "checked.invalid", uri.port, self._timeout)
        if uri.scheme != b"https":
            return endpoint
        return wrapClientTLS(self._policy.creatorForNetloc(host.encode("ascii"), uri.port), endpoint)


@implementer(IReactorPluggableNameResolver)
@frozen(eq=False)
class _CheckedReactor:
    """The reactor with another resolver of names."""

    _reactor: Any
    nameResolver: IHostnameResolver

    def installNameResolver(self, resolver: IHostnameResolver) -> IHostnameResolver:
        raise NotImplementedError

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reactor, name)


@implementer(IHostnameResolver)
@frozen(eq=False)
class _CheckedResolver:
    """Resolver of every name to `addresses`."""

    _addresses: Iterable[str]

    def resolveHostName(
        self,
        resolutionReceiver: IResolutionReceiver,
        hostName: str,
        portNumber: int = 0,
        addressTypes: Any = None,
        transportSemantics: str = "TCP",
    ) -> IHostResolution:
        resolutionReceiver.resolutionBegan(resolution := _Resolution(hostName))
        for address in self._addresses:
            kind = IPv6Address if ":" in address else IPv4Address
            resolutionReceiver.addressResolved(kind("TCP", address, portNumber))
        resolutionReceiver.resolutionComplete()
        return resolution


@implementer(IHostResolution)
@frozen
class _Resolution:
    name: str = field()

    def cancel(self) -> None:
        raise NotImplementedError

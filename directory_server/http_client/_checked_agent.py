"""HTTP agent for URLs that others name: it connects only to addresses that it has checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from socket import SOCK_STREAM, gaierror, getaddrinfo
from typing import Any
from urllib.parse import urlsplit

from attrs import field, frozen
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import HostnameEndpoint, wrapClientTLS
from twisted.internet.error import DNSLookupError
from twisted.internet.interfaces import (
    IHostnameResolver,
    IHostResolution,
    IReactorPluggableNameResolver,
    IResolutionReceiver,
    IStreamClientEndpoint,
)
from twisted.web.client import URI, Agent
from twisted.web.http_headers import Headers
from twisted.web.iweb import IAgent, IAgentEndpointFactory, IBodyProducer, IPolicyForHTTPS, IResponse
from zope.interface import implementer

from ..domain.errors import DirectoryError
from ..domain.ports.runtime import Offload
from ..texts import hosts
from ._bounded_agent import HeadBoundedPool
from ._responses import port_of

MAX_ADDRESSES = 32
"""Addresses of a name. All of them are checked."""

MAX_TRIED = 4
"""Addresses of a name that are tried."""

MAX_URL = 2_000
"""Characters of a URL."""

_HIDDEN = "Its name is not known, or its address is not public."
"""The message if others must not learn whether a name exists in a private network."""


class InvalidTarget(DirectoryError):
    """A URL cannot be requested; the message says what is wrong with "its URL"."""

    code = "invalid_target"


class NotAllowed(DirectoryError):
    """A port or address is not allowed. No connection was made."""

    code = "not_allowed"


@frozen
class Target:
    """Host and port of a URL. `url` has the host in ASCII, `origin` is the URL without its path."""

    url: str
    origin: str
    host: str
    port: int


def target_of(url: str) -> Target:
    """Return the target of `url`. Raises InvalidTarget, or NotAllowed for its port."""
    if len(url) > MAX_URL or not url.isprintable() or " " in url:
        raise InvalidTarget("Its URL is too long or has invalid characters.")
    if "{" in url or "}" in url:
        raise InvalidTarget("Its URL has variables.")
    try:
        parts = urlsplit(url)
        host = hosts.read(parts.hostname or "").name
        port = port_of(parts)
        netloc = host if parts.port is None else f"{host}:{port}"
        # The target of a request has a path (RFC 9112, section 3.2.1).
        plain = parts._replace(netloc=netloc, path=parts.path or "/", fragment="")
        plain.geturl().encode("ascii")
    except ValueError:
        raise InvalidTarget("Its URL is no valid http or https URL.") from None
    if parts.username is not None or parts.password is not None:
        raise InvalidTarget("Its URL has a user name or password.")
    if not is_open_port(port):
        raise NotAllowed(f"Port {port} is not allowed.")
    return Target(plain.geturl(), f"{parts.scheme}://{plain.netloc}", host.strip("[]"), port)


@frozen(eq=False)
class CheckedNetwork:
    """Shared parts of CheckedAgents. `lookup` runs the look-ups of names, which may take long.

    `allowed` are networks that are not public and allowed all the same. `connect_timeout` is in seconds. With
    `hides_names`, names that are not known and names with an address that is not allowed have the same error.
    """

    reactor: Any
    policy: IPolicyForHTTPS
    allowed: Networks
    lookup: Offload
    connect_timeout: float
    resolve: Callable[..., Sequence[Any]] = getaddrinfo
    hides_names: bool = False


@implementer(IAgent)
class CheckedAgent:
    """Agent that looks up each host once, and connects only to the addresses that were checked.

    Its requests fail with InvalidTarget, NotAllowed and the errors of the network.
    """

    def __init__(self, network: CheckedNetwork) -> None:
        self._network = network
        self._checked: dict[str, Sequence[str]] = {}
        self._pool = HeadBoundedPool(network.reactor)
        self._pool.maxPersistentPerHost = 1
        endpoints = _CheckedEndpoints(network.reactor, network.policy, network.connect_timeout, self._checked)
        self._agent = Agent.usingEndpointFactory(network.reactor, endpoints, self._pool)

    def close(self) -> Deferred[None]:
        """Close the idle connections. Others end with the reading of their responses."""
        closed: Deferred[None] = self._pool.closeCachedConnections()
        return closed

    def request(
        self, method: bytes, uri: bytes, headers: Headers | None = None, bodyProducer: IBodyProducer | None = None
    ) -> Deferred[IResponse]:
        return Deferred.fromCoroutine(self._request(method, uri, headers, bodyProducer))

    async def _request(
        self, method: bytes, uri: bytes, headers: Headers | None, producer: IBodyProducer | None
    ) -> IResponse:
        target = target_of(uri.decode("ascii", "replace"))
        await self._check(target.host)
        response: IResponse = await self._agent.request(method, target.url.encode("ascii"), headers, producer)
        return response

    async def _check(self, host: str) -> None:
        """Look `host` up, unless this was done before. Raises NotAllowed if one of its addresses is not allowed."""
        if host in self._checked:
            return
        records: Sequence[Any] = ()
        with suppress(gaierror, UnicodeError):
            records = await self._network.lookup(self._network.resolve, host, None, type=SOCK_STREAM)
        addresses = list(dict.fromkeys(str(record[4][0]) for record in records))
        if not addresses:
            raise NotAllowed(_HIDDEN) if self._network.hides_names else DNSLookupError(host)
        if len(addresses) > MAX_ADDRESSES:
            raise NotAllowed(f"Its name has more than {MAX_ADDRESSES} addresses.")
        for address in addresses:
            if not is_allowed(address, self._network.allowed):
                # Others may see the message: it must not say to which addresses names in a private network belong.
                raise NotAllowed(_HIDDEN if self._network.hides_names else "Its address is not public.")
        self._checked[host] = addresses[:MAX_TRIED]


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


Networks = tuple[IPv4Network | IPv6Network, ...]

_SPECIAL = tuple(
    map(
        ip_network,
        (
            # IANA's registries of special-purpose addresses, whatever the version of Python knows of them.
            *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
            *("192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24"),
            *("192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"),
            *("224.0.0.0/4", "240.0.0.0/4"),
            # Protocol assignments and Teredo, documentation, 6to4, documentation. The others are outside 2000::/3.
            *("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "2620:4f:8000::/48"),
            # A public address that answers with metadata of the virtual machine, in Azure.
            "168.63.129.16/32",
        ),
    )
)

_GLOBAL_UNICAST = ip_network("2000::/3")
"""The only public part of IPv6. It has no mapped (::ffff:0:0/96), translated or NAT64 (64:ff9b::/96) addresses."""

_OPEN_PORTS = frozenset({80, 443})

_FIRST_USER_PORT = 1_024

_BLOCKED_PORTS = frozenset(
    (1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6679, 6697, 10080, *range(6665, 6670))
)
"""Ports from 1024 that browsers block: servers of other protocols understand parts of HTTP (Fetch, "bad port")."""


def networks(texts: Iterable[str]) -> Networks:
    """Return the networks in CIDR notation. Raises ValueError."""
    return tuple(ip_network(text, strict=False) for text in texts)


def is_allowed(text: str, allowed: Networks) -> bool:
    """Return whether a check may connect to the address `text`: it is public, or in one of `allowed`."""
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if any(address in network for network in allowed):
        return True
    if any(address in network for network in _SPECIAL) or not address.is_global or address.is_multicast:
        return False
    return address.version == 4 or address in _GLOBAL_UNICAST


def is_open_port(port: int) -> bool:
    """Return whether a check may connect to `port`: 80, 443, and from 1024 those that browsers do not block."""
    return port in _OPEN_PORTS or (_FIRST_USER_PORT <= port <= 65_535 and port not in _BLOCKED_PORTS)

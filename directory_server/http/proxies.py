"""Trusted proxies: the client address and scheme of a request, and the socket transport below wrapping protocols."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

from attrs import field, frozen
from twisted.internet.address import UNIXAddress
from twisted.internet.interfaces import IAddress
from twisted.protocols.policies import ProtocolWrapper

from ._request import Request
from .headers import values

Network = IPv4Network | IPv6Network


UNIX = "unix"
"""The entry in the list of trusted proxies for all peers of UNIX sockets."""


IPV6_PREFIX = 64
"""Prefix length of one IPv6 network. A host chooses the other bits itself (RFC 4291, section 2.5.1)."""


LONGEST_ADDRESS = 100
"""Characters of the longest text that is parsed as an address. An IPv6 address with the name of a zone has 61."""


SITE_IPV4_PREFIX, SITE_IPV6_PREFIX = 24, 48
"""Prefix lengths of one site: the longest prefix that is routed (IPv4), and one end site (RFC 6177, IPv6)."""


_WITH_PORT = re.compile(r"\[([0-9A-Fa-f:.]{2,45})\](?::[0-9]{1,5})?|([0-9.]{7,15}):[0-9]{1,5}")
"""An address as some proxies write it: in brackets or with a port (RFC 7239, section 6)."""


@lru_cache(1_000)
def _parsed(address: str) -> IPv4Address | IPv6Address | None:
    """Parse an address, an IPv4-mapped one as IPv4 (RFC 4291, section 2.5.5.2); return None if it is invalid."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return None
    return (parsed.ipv4_mapped if isinstance(parsed, IPv6Address) else None) or parsed


def _without_port(forwarded: str) -> str:
    """Return an address of X-Forwarded-For without its port and brackets, or another text unchanged."""
    match = _WITH_PORT.fullmatch(forwarded)
    return forwarded if match is None else match[1] or match[2]


def network_of(address: str, ipv6_prefix: int = IPV6_PREFIX, ipv4_prefix: int = 32) -> str:
    """Return the network of `address` with the given prefix length. It counts as one client.

    All limits by address use this function. It returns an empty string for all texts that are not an address.
    """
    return _network_of(address, ipv6_prefix, ipv4_prefix) if len(address) <= LONGEST_ADDRESS else ""


@lru_cache(1_000)
def _network_of(address: str, ipv6_prefix: int, ipv4_prefix: int) -> str:
    parsed = _parsed(address)
    if isinstance(parsed, IPv6Address):
        return str(ip_network((int(parsed), ipv6_prefix), strict=False))
    if parsed is None:
        # A proxy may not know or not reveal the client (RFC 7239, section 6).
        return ""
    return str(parsed) if ipv4_prefix == 32 else str(ip_network((int(parsed), ipv4_prefix), strict=False))


@frozen
class Proxies:
    """The trusted proxies: networks such as 10.0.0.0/8, and `unix` for all peers of UNIX sockets.

    X-Forwarded-For and X-Forwarded-Proto are used only from these.
    """

    _entries: Sequence[str] = ()
    _trusted: tuple[Network, ...] = field(init=False)

    @_trusted.default
    def _(self) -> tuple[Network, ...]:
        return tuple(ip_network(entry, strict=False) for entry in self._entries if entry != UNIX)

    def trusts(self, address: str) -> bool:
        """Return whether `address` is in a trusted network."""
        parsed = _parsed(address) if self._trusted and len(address) <= LONGEST_ADDRESS else None
        return parsed is not None and any(parsed in network for network in self._trusted)

    def address(self, request: Request) -> str:
        """Return the address of the client: the last one in X-Forwarded-For that is not a trusted proxy's.

        It has no port, because each connection of a client has another one.
        """
        return self.forwarded_address(request.client, request.received)

    def forwarded_address(self, peer: IAddress | None, received: Mapping[bytes, Sequence[bytes]]) -> str:
        """Return the address of the client of a request with the header fields `received` from `peer`."""
        address = str(getattr(peer, "host", ""))
        trusted = self.trusts_peer(peer)
        if trusted:
            values = received.get(b"x-forwarded-for", ())
            forwarded = [part.strip() for value in values for part in value.decode("latin-1").split(",")]
            while forwarded and trusted:
                address = _without_port(forwarded.pop())
                trusted = self.trusts(address)
        return address

    def client(self, request: Request) -> str:
        """Return the network of the client's address; see `network_of`."""
        return network_of(self.address(request))

    def network(self, request: Request) -> str:
        """Return the client's routed network: a /24 (IPv4) or a /48 (IPv6), "" for an unknown address."""
        return network_of(self.address(request), SITE_IPV6_PREFIX, SITE_IPV4_PREFIX)

    def is_secure(self, request: Request) -> bool:
        """Return whether the client uses TLS, with this server or with a trusted proxy (X-Forwarded-Proto)."""
        if request.isSecure():
            return True
        forwarded = values(request, "X-Forwarded-Proto")
        return bool(forwarded) and forwarded[-1].strip().lower() == "https" and self.trusts_peer(request.client)

    def trusts_peer(self, peer: IAddress | None) -> bool:
        """Return whether the peer of a connection is a trusted proxy."""
        if isinstance(peer, UNIXAddress):
            return UNIX in self._entries
        return self.trusts(str(getattr(peer, "host", "")))


def unwrapped(transport: Any) -> Any:
    """Return the socket transport below the wrappers of TLS and the PROXY protocol."""
    while isinstance(transport, ProtocolWrapper):
        transport = transport.transport
    return transport

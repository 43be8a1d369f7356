"""Addresses and ports that a check may connect to."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

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

"""Networks of clients: groups of addresses that one party is likely to have."""

from __future__ import annotations

from ipaddress import ip_network

IPV4_PREFIX, IPV6_PREFIX = 24, 48
"""Bits that the addresses of one network share: the smallest that is routed (IPv4), one site (RFC 6177)."""


def network(client: str) -> str:
    """Return the network that a client is in, "" for an unknown one; `client` is as `Proxies.client` returns it."""
    try:
        group = ip_network(client)
    except ValueError:
        return ""
    return str(group.supernet(new_prefix=IPV4_PREFIX if group.version == 4 else IPV6_PREFIX))

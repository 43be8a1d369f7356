"""Host names of URLs: ASCII form and network scope.

Names are not resolved: a public name with a private address counts as public.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Literal
from urllib.parse import urlsplit

import idna
from attrs import frozen

_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")

_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")

_NAT64 = ip_network("64:ff9b::/96")

_PRIVATE_SUFFIXES = frozenset(
    ("local", "localdomain", "internal", "intranet", "private", "corp", "home", "lan", "arpa", "test", "invalid")
)
"""Top-level names that are not on the public Internet (RFC 6761, RFC 6762, RFC 8375; ICANN's `internal`)."""

Scope = Literal["public", "private", "local"]
"""The Internet; a private network; the local machine or its link."""


@frozen
class Host:
    """A host: `name` in ASCII, in the form for URLs.

    `international` is true for names with characters beyond ASCII or labels in Punycode, which may look like another
    name.
    """

    name: str
    scope: Scope
    international: bool


def read(text: str) -> Host:
    """Return the host in `text`, the host of a URL without brackets. Raises ValueError.

    Names beyond ASCII are mapped like in browsers (UTS 46) and encoded (RFC 5891). IPv4 addresses must be four decimal
    numbers: other notations, which the WHATWG URL standard allows, hide the address.
    """
    if len(text) > 253:
        raise ValueError("longer than a host name may be")
    if ":" in text:
        address = IPv6Address(text)
        if address.scope_id:
            raise ValueError("an IPv6 address with a zone is valid on one machine only")
        return Host(f"[{address}]", _scope(address), False)
    ascii_name = text.lower() if text.isascii() else idna.encode(text, uts46=True).decode()
    labels = ascii_name.removesuffix(".").split(".")
    if len(ascii_name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise ValueError("not a host name")
    encoded = [label for label in labels if label.startswith("xn--")]
    for label in encoded:
        idna.decode(label)
    if _NUMBER.fullmatch(labels[-1]):
        return Host(ascii_name, _scope(ip_address(ascii_name)), False)
    private = len(labels) == 1 or labels[-1] in _PRIVATE_SUFFIXES
    scope: Scope = "local" if labels[-1] == "localhost" else "private" if private else "public"
    return Host(ascii_name, scope, bool(encoded) or not text.isascii())


def of(url: str) -> Host:
    """Return the host of an absolute URL. Raises ValueError."""
    return read(urlsplit(url).hostname or "")


def ascii_url(url: str) -> str:
    """Return `url` with its host in ASCII. Raises ValueError for an invalid host."""
    parts = urlsplit(url)
    host = read(parts.hostname or "").name
    before, at, _ = parts.netloc.rpartition("@")
    port = f":{parts.port}" if parts.port is not None else ""
    return parts._replace(netloc=f"{before}{at}{host}{port}").geturl()


def _scope(address: IPv4Address | IPv6Address) -> Scope:
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address in _NAT64:
            inner = IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return _scope(inner)
    if address.is_global and not address.is_multicast:
        return "public"
    # 0.0.0.0/8 is this host on this network (RFC 1122).
    is_local = address.is_loopback or address.is_link_local or address.is_multicast or address.is_unspecified
    return "local" if is_local or address.is_reserved or address.packed[0] == 0 else "private"

"""Client addresses behind trusted proxies."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import frozen
from twisted.internet.address import IPv4Address

PROXY = "10.0.0.1"


@frozen
class Received:
    """The parts of a request that name its client."""

    received: dict[bytes, list[bytes]]
    client: IPv4Address


def request(forwarded: str, peer: str = PROXY) -> Any:
    return Received({b"x-forwarded-for": [forwarded.encode()]}, IPv4Address("TCP", peer, 40_000))


def proxies(*networks: str) -> Any:
    # http must not be imported before a test has installed the reactor.
    from directory_server.http.proxies import Proxies

    return Proxies(networks)


@pytest.mark.parametrize(
    ("forwarded", "address"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("192.0.2.1:5678", "192.0.2.1"),
        ("[2001:db8::1]:443", "2001:db8::1"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("[::ffff:192.0.2.1]:80", "::ffff:192.0.2.1"),
        # Without brackets the last group is a part of the address.
        ("2001:db8::1:443", "2001:db8::1:443"),
        # The proxy in front of this one is trusted, too, and has a port.
        ("198.51.100.7, 192.0.2.1:5678, 10.0.0.2:9000", "192.0.2.1"),
    ],
)
def test_port_of_a_forwarded_address_is_ignored(forwarded: str, address: str) -> None:
    assert proxies("10.0.0.0/8").address(request(forwarded)) == address


@pytest.mark.parametrize(
    "forwarded",
    ["192.0.2.1:", "192.0.2.1:x", "192.0.2.1:123456", "[2001:db8::1]443", "[2001:db8::1", "[]:1", ":1", "_x"],
)
def test_other_texts_are_one_unknown_client(forwarded: str) -> None:
    assert proxies(PROXY).client(request(forwarded)) == ""


def test_clients_with_ports_share_one_limit() -> None:
    trusted = proxies(PROXY)
    assert {trusted.client(request(f"192.0.2.1:{port}")) for port in (1, 5_678, 65_535)} == {"192.0.2.1"}


def test_header_of_an_untrusted_peer_is_ignored() -> None:
    assert proxies(PROXY).address(request("192.0.2.1:5678", "198.51.100.7")) == "198.51.100.7"

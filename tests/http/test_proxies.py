"""Client addresses behind trusted proxies."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from twisted.internet.address import IPv4Address, UNIXAddress

from directory_server.http.proxies import Proxies, network_of

PROXY = "10.0.0.1"


def request(*forwarded: str, peer: str = PROXY) -> Any:
    """Return the parts of a request that name its client."""
    received = {b"x-forwarded-for": [each.encode() for each in forwarded]} if forwarded else {}
    return SimpleNamespace(received=received, client=IPv4Address("TCP", peer, 40_000))


def behind_a_unix_socket(*forwarded: str) -> Any:
    received = request(*forwarded)
    received.client, received.isSecure = UNIXAddress(None), lambda: False
    return received


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
    assert Proxies(["10.0.0.0/8"]).address(request(forwarded)) == address


@pytest.mark.parametrize(
    "forwarded",
    ["192.0.2.1:", "192.0.2.1:x", "192.0.2.1:123456", "[2001:db8::1]443", "[2001:db8::1", "[]:1", ":1", "_x"],
)
def test_other_texts_are_one_unknown_client(forwarded: str) -> None:
    assert Proxies([PROXY]).client(request(forwarded)) == ""


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("192.0.2.1", [], "192.0.2.1"),
        ("192.0.2.1", ["198.51.100.1"], "192.0.2.1"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["203.0.113.9, 198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["203.0.113.9", "198.51.100.1, 10.9.9.9"], "198.51.100.1"),
        ("10.0.0.1", ["10.0.0.2, 10.0.0.3"], "10.0.0.2"),
        ("10.0.0.1", ["unknown"], ""),
        ("10.0.0.1", ["<script>"], ""),
        ("2001:db8:1:2:3:4:5:6", [], "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.1", [], "192.0.2.1"),
    ],
)
def test_the_client_is_the_last_address_that_is_no_proxy(peer: str, forwarded: list[str], client: str) -> None:
    assert Proxies(["10.0.0.0/8"]).client(request(*forwarded, peer=peer)) == client


@pytest.mark.parametrize(
    ("trusted", "forwarded", "client"),
    [
        ([], ["198.51.100.1"], ""),
        (["127.0.0.1"], ["198.51.100.1"], ""),
        (["unix"], ["198.51.100.1"], "198.51.100.1"),
        (["unix"], ["203.0.113.9, 198.51.100.1"], "198.51.100.1"),
        (["unix", "198.51.100.0/24"], ["203.0.113.9, 198.51.100.1"], "203.0.113.9"),
        # Only the peer may be "unix": a forwarded value must be an address.
        (["unix"], ["203.0.113.9, unix"], ""),
        (["unix"], ["203.0.113.9, "], ""),
        (["unix"], [], ""),
    ],
)
def test_clients_behind_a_unix_socket(trusted: list[str], forwarded: list[str], client: str) -> None:
    assert Proxies(trusted).client(behind_a_unix_socket(*forwarded)) == client


@pytest.mark.parametrize(
    ("trusted", "forwarded", "secure"), [(["unix"], "https", True), (["unix"], "http", False), ([], "https", False)]
)
def test_tls_at_the_proxy_behind_a_unix_socket(trusted: list[str], forwarded: str, secure: bool) -> None:
    behind = behind_a_unix_socket()
    behind.received[b"x-forwarded-proto"] = [forwarded.encode()]
    assert Proxies(trusted).is_secure(behind) == secure


@pytest.mark.parametrize(
    ("address", "prefix", "network"),
    [
        ("192.0.2.1", 64, "192.0.2.1"),
        ("192.0.2.1", 48, "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", 64, "2001:db8:1:2::/64"),
        ("2001:db8:1:2:3:4:5:6", 48, "2001:db8:1::/48"),
        ("2001:0DB8:0001:0002::1", 64, "2001:db8:1:2::/64"),
        ("fe80::1%eth0", 64, "fe80::/64"),
        ("::ffff:192.0.2.1", 64, "192.0.2.1"),
        ("", 64, ""),
        ("example.org", 64, ""),
    ],
)
def test_network_of_an_address(address: str, prefix: int, network: str) -> None:
    assert network_of(address, prefix) == network

"""Addresses and ports to which URLs that others name may lead."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from directory_server.http_client import networks
from directory_server.http_client._checked_agent import is_allowed, is_open_port

PRIVATE = [
    *("127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1"),
    *("169.254.169.254", "169.254.170.2", "100.64.0.1", "100.100.100.200", "168.63.129.16", "192.0.0.192"),
    *("192.0.2.1", "198.18.0.1", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.250", "240.0.0.1"),
    *("255.255.255.255", "192.88.99.1"),
    *("::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "fec0::1", "2001:db8::1"),
    # IPv4 in IPv6: mapped, compatible, translated, NAT64 (well-known and local), 6to4, Teredo, ISATAP.
    *("::ffff:127.0.0.1", "::ffff:8.8.8.8", "::7f00:1", "::ffff:0:7f00:1", "64:ff9b::7f00:1", "64:ff9b::808:808"),
    *("64:ff9b:1::a00:1", "2002:7f00:1::1", "2002:808:808::1", "2001:0:7f00:1::", "fe80::5efe:10.0.0.1"),
    *("100::1", "3fff::1", "5f00::1", "4000::1", "e000::1"),
    *("localhost", "", "127.1", "0x7f000001", "2130706433", "127.0.0.1:80", "8.8.8.8 "),
]

PUBLIC = ["8.8.8.8", "1.1.1.1", "93.184.216.34", "172.32.0.1", "100.128.0.1", "2606:2800:220:1::1", "2a00:1450::200e"]


@pytest.mark.parametrize("address", PRIVATE)
def test_addresses_that_are_not_public_are_refused(address: str) -> None:
    assert not is_allowed(address, ())


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_allowed(address: str) -> None:
    assert is_allowed(address, ())


def test_the_operator_can_allow_networks() -> None:
    allowed = networks(["10.1.0.0/16", "fd12::/16", "192.168.7.7"])
    assert all(is_allowed(each, allowed) for each in ("10.1.2.3", "fd12::1", "192.168.7.7", "8.8.8.8"))
    # The network of IPv4 does not allow its addresses in another notation.
    refused = ("10.2.0.1", "192.168.7.8", "::ffff:10.1.2.3", "64:ff9b::a01:203", "127.0.0.1")
    assert not any(is_allowed(each, allowed) for each in refused)
    with pytest.raises(ValueError, match="does not appear to be"):
        networks(["example.com"])


@given(st.ip_addresses(v=6, network="2000::/3"), st.ip_addresses(v=4))
def test_an_allowed_address_is_global(six: Any, four: Any) -> None:
    for address in (six, four):
        assert not is_allowed(str(address), ()) or (address.is_global and not address.is_multicast)


def test_ports_of_other_protocols_are_refused() -> None:
    assert all(map(is_open_port, (80, 443, 1024, 3000, 8000, 8080, 8443, 65_535)))
    assert not any(map(is_open_port, (0, 22, 25, 110, 445, 1023, 2049, 5060, 6000, 6667, 10_080, 65_536)))

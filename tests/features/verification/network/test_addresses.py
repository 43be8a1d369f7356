"""No check connects to an address that is not public, whatever names, redirects and documents say."""

from __future__ import annotations

from collections.abc import Sequence
from socket import gaierror
from typing import Any

import pytest
from attrs import define, evolve, field
from hypothesis import given
from hypothesis import strategies as st

from directory_server.domain.checks import RemoteStatus
from directory_server.features.verification.network import RemoteProber
from directory_server.features.verification.network._addresses import is_allowed, is_open_port, networks
from directory_server.features.verification.results import RemoteCheck

from ....contract import awaited
from .conftest import Harness

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


@define(eq=False)
class Names:
    """A resolver of names. The answers for a name are used in turn, the last one for ever; `asked` has all names."""

    answers: dict[str, list[list[str]]]
    asked: list[str] = field(factory=list)

    def __call__(self, host: str, port: Any, **options: Any) -> Sequence[Any]:
        self.asked.append(host)
        answers = self.answers.get(host)
        if not answers:
            raise gaierror("unknown")
        addresses = answers.pop(0) if len(answers) > 1 else answers[0]
        return [(None, None, 6, "", (each, 0)) for each in addresses]


def with_names(harness: Harness, **answers: list[list[str]]) -> tuple[RemoteProber, Names]:
    """Return the prober of `harness` with a resolver of the names NAME.example."""
    names = Names({f"{name.replace('_', '-')}.example": found for name, found in answers.items()})
    return evolve(harness.prober, network=evolve(harness.prober._network, resolve=names)), names


async def check(harness: Harness, prober: RemoteProber, host: str, kind: str) -> RemoteCheck:
    port = harness.origin.rpartition(":")[2]
    return await prober.check(f"http://{host}:{port}/{kind}", "streamable-http", False)


@awaited
async def test_a_name_is_looked_up_once_and_its_address_is_used(harness: Harness) -> None:
    prober, names = with_names(harness, a=[["127.0.0.1"]])
    found = await check(harness, prober, "a.example", "stateful-events")
    assert found.status is RemoteStatus.WORKS, found.detail
    assert names.asked == ["a.example"]
    hosts = {headers["host"].partition(":")[0] for _, _, headers in harness.remotes.requests}
    assert hosts == {"a.example"}


@awaited
async def test_a_name_whose_answers_change_does_not_lead_elsewhere(harness: Harness) -> None:
    # Each request of this kind needs a connection of its own.
    prober, _ = with_names(harness, rebound=[["127.0.0.1"], ["127.0.0.2"], ["10.0.0.1"]])
    found = await check(harness, prober, "rebound.example", "stateful-events")
    assert (found.status, len(found.tools)) == (RemoteStatus.WORKS, 2)
    # The next check looks the name up again.
    prober, _ = with_names(harness, rebound=[["10.0.0.1"]])
    harness.remotes.requests.clear()
    found = await check(harness, prober, "rebound.example", "stateful-events")
    assert (found.status, found.detail) == (RemoteStatus.NOT_ALLOWED, "Its address 10.0.0.1 is not public.")
    assert harness.remotes.requests == []


@pytest.mark.parametrize(
    "text",
    ["10.0.0.1", "127.0.0.1 10.0.0.1", "8.8.8.8 169.254.169.254", "::ffff:127.0.0.1", "64:ff9b::7f00:1"],
)
@awaited
async def test_one_address_that_is_not_allowed_refuses_the_name(harness: Harness, text: str) -> None:
    prober, _ = with_names(harness, a=[text.split()])
    assert (await check(harness, prober, "a.example", "modern")).status is RemoteStatus.NOT_ALLOWED
    assert harness.remotes.requests == []


@awaited
async def test_the_number_of_addresses_is_bounded(harness: Harness) -> None:
    prober, _ = with_names(harness, a=[[f"127.0.0.{number}" for number in range(1, 34)]])
    assert (await check(harness, prober, "a.example", "modern")).status is RemoteStatus.NOT_ALLOWED


@awaited
async def test_an_unknown_name_is_unreachable(harness: Harness) -> None:
    prober, _ = with_names(harness)
    found = await check(harness, prober, "gone.example", "modern")
    assert (found.status, found.detail) == (RemoteStatus.UNREACHABLE, "Its host name is not known.")


@pytest.mark.parametrize(
    "host",
    [
        "127.1",
        "0x7f.1",
        "2130706433",
        "[::ffff:127.0.0.1]",
        "[::1]",
        "0.0.0.0",
        "10.0.0.1",
        "169.254.169.254",
        "[fe80::1]",
    ],
)
@awaited
async def test_addresses_in_urls_are_checked_in_every_notation(harness: Harness, host: str) -> None:
    found = await check(harness, harness.prober, host, "modern")
    assert found.status in (RemoteStatus.NOT_ALLOWED, RemoteStatus.NOT_CHECKABLE)
    assert harness.remotes.requests == []


@pytest.mark.parametrize("target", ["http://10.0.0.1/x", "http://169.254.169.254/latest/meta-data/", "//10.0.0.1/"])
@awaited
async def test_a_redirect_to_a_private_address_is_not_followed(harness: Harness, target: str) -> None:
    harness.remotes.targets["/redirect-to"] = target
    found = await harness.check("redirect-to")
    assert found.status is RemoteStatus.MOVED
    assert len(harness.paths("/robots.txt")) <= 2


@pytest.mark.parametrize(
    "metadata", ["http://10.0.0.1:8080/x", "http://169.254.169.254/", "file:///etc/passwd", "http://127.0.0.1:22/"]
)
@awaited
async def test_metadata_at_a_private_address_is_not_read(harness: Harness, metadata: str) -> None:
    harness.remotes.targets["/login-to"] = metadata
    prober, names = with_names(harness, a=[["127.0.0.1"]])
    found = await check(harness, prober, "a.example", "login-to")
    assert (found.status, found.login, found.authorization_server) == ("needs_login", "oauth", "")
    assert set(names.asked) <= {"a.example", "10.0.0.1", "169.254.169.254"}
    assert harness.paths("/robots.txt") == ["POST /login-to"]


@pytest.mark.parametrize("endpoint", ["http://10.0.0.1/messages", "//10.0.0.1/messages", "http://[::1", "//[a]/"])
@awaited
async def test_an_endpoint_of_the_old_transport_elsewhere_is_not_used(harness: Harness, endpoint: str) -> None:
    harness.remotes.targets["/sse-elsewhere"] = endpoint
    assert (await harness.check("sse-elsewhere", "sse")).status is RemoteStatus.NOT_MCP
    assert harness.paths("/robots.txt") == ["GET /sse-elsewhere"]

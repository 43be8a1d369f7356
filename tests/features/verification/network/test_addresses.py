"""No check connects to an address that is not public, whatever names, redirects and documents say."""

from __future__ import annotations

from collections.abc import Sequence
from socket import gaierror
from typing import Any

import pytest
from attrs import define, evolve, field

from directory_server.domain.checks import RemoteStatus
from directory_server.features.verification.network import RemoteProber
from directory_server.features.verification.results import RemoteCheck

from ....contract import awaited
from .conftest import Harness


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
    network = harness.prober._network
    return evolve(harness.prober, network=evolve(network, addresses=evolve(network.addresses, resolve=names))), names


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
    assert (found.status, found.detail) == (RemoteStatus.NOT_ALLOWED, "Its address is not public.")
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
        "2130706433",
        "[::ffff:127.0.0.1]",
        "10.0.0.1",
        "169.254.169.254",
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

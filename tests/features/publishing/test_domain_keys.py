"""The texts of a domain over real sockets: a name server and a web server on loopback."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from socket import gaierror
from typing import Any

import pytest
import pytest_twisted  # type: ignore[import-untyped]
from attrs import define
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.names.client import Resolver
from twisted.names.dns import DNSDatagramProtocol, Message, Record_A, Record_TXT, RRHeader

from directory_server.domain.errors import InvalidToken
from directory_server.features.publishing.login_methods import DNS_DEADLINE, TextRecords, well_known_file
from directory_server.runtime.run_sync import inline
from tests.contract import awaited

Answer = Callable[[Message], None]

HIDDEN = r"cannot be read\. Its name is not known, or its address is not public\.$"


@define(eq=False)
class NameServer:
    """A name server that answers by `answer`, or never."""

    answer: Answer | None = None

    def messageReceived(self, message: Message, protocol: Any, address: Any) -> None:
        if self.answer is not None:
            message.answer = 1
            self.answer(message)
            protocol.writeMessage(message, address)


@pytest.fixture
def name_server() -> NameServer:
    return NameServer()


@pytest.fixture
def resolver(name_server: NameServer) -> Iterator[Any]:
    from twisted.internet import reactor

    port = reactor.listenUDP(0, DNSDatagramProtocol(name_server), interface="127.0.0.1")  # type: ignore[attr-defined]
    yield Resolver(servers=[("127.0.0.1", port.getHost().port)], reactor=reactor)
    pytest_twisted.blockon(port.stopListening())


def texts(message: Message) -> None:
    name = message.queries[0].name.name
    message.answers = [
        RRHeader(name, payload=Record_TXT(b"v=MCPv1; ", b"k=ed25519"), type=16),
        RRHeader(name, payload=Record_A("192.0.2.1"), type=1),
        RRHeader(name, payload=Record_TXT(b"x" * 255, *[b"y" * 255] * 20, b"\xff"), type=16),
    ]


@awaited
async def test_the_parts_of_a_record_are_one_text(name_server: NameServer, resolver: Any) -> None:
    name_server.answer = texts
    first, second = await TextRecords(resolver, Clock())("acme.example")
    assert first == "v=MCPv1; k=ed25519"
    assert len(second) == 4_096


@pytest.mark.parametrize("code", [2, 3, 5])
@awaited
async def test_a_domain_without_records_is_an_error(name_server: NameServer, resolver: Any, code: int) -> None:
    name_server.answer = lambda message: setattr(message, "rCode", code)
    with pytest.raises(InvalidToken, match=r"The DNS of acme\.example gave no TXT record"):
        await TextRecords(resolver, Clock())("acme.example")


@awaited
async def test_a_name_server_without_tcp_is_an_error(name_server: NameServer, resolver: Any) -> None:
    # A truncated answer is asked again over TCP (RFC 7766).
    name_server.answer = lambda message: setattr(message, "trunc", 1)
    with pytest.raises(InvalidToken, match="gave no TXT record"):
        await TextRecords(resolver, Clock())("acme.example")


@awaited
async def test_an_invalid_name_server_is_an_error() -> None:
    from twisted.internet import reactor

    with pytest.raises(InvalidToken, match="gave no TXT record"):
        await TextRecords(Resolver(servers=[("fe80::1%x", 53)], reactor=reactor), Clock())("acme.example")


@awaited
async def test_a_slow_name_server_is_left_after_the_deadline(resolver: Any) -> None:
    clock = Clock()
    looking = Deferred.fromCoroutine(TextRecords(resolver, clock)("acme.example"))
    clock.advance(DNS_DEADLINE)
    with pytest.raises(InvalidToken, match="did not answer in time"):
        await looking


@awaited
async def test_a_file_is_read_from_public_addresses_only() -> None:
    from twisted.internet import reactor

    files = well_known_file(reactor, [])
    for address in ("127.0.0.1", "169.254.169.254", "10.0.0.1", "::1"):
        network = files._new_agent()._network

        def resolve(*_: Any, address: str = address, **__: Any) -> Any:
            return [(None, None, None, "", (address, 0))]

        object.__setattr__(network, "resolve", resolve)
        object.__setattr__(network, "lookup", inline)
        with pytest.raises(InvalidToken, match=HIDDEN):
            await files("acme.example")


@awaited
async def test_an_unknown_name_has_the_error_of_an_internal_one() -> None:
    from twisted.internet import reactor

    files = well_known_file(reactor, [])
    network = files._new_agent()._network

    def resolve(*_: Any, **__: Any) -> Any:
        raise gaierror("not known")

    object.__setattr__(network, "resolve", resolve)
    object.__setattr__(network, "lookup", inline)
    with pytest.raises(InvalidToken, match=HIDDEN):
        await files("acme.example")

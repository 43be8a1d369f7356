"""The HTTP client of a check."""

from __future__ import annotations

from typing import Any

import pytest
from twisted.internet.protocol import Factory, Protocol
from twisted.web.client import ResponseNeverReceived

from directory_server import __version__
from directory_server.features.verification.network._build import user_agent
from directory_server.features.verification.network._client import Client, body_of

from ....contract import awaited
from .conftest import Harness


class ClosesKept(Protocol):
    """A server that keeps a connection open after its first response, and closes it when it gets a second request.

    `answers` is the number of responses of all connections after which no more are sent.
    """

    answers = 1_000
    requests = 0
    _answered = False

    def dataReceived(self, data: bytes) -> None:
        assert self.transport is not None
        type(self).requests += 1
        if self._answered or type(self).requests > self.answers:
            self.transport.loseConnection()
        else:
            self._answered = True
            self.transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


@pytest.mark.parametrize(("answers", "requests"), [(1_000, 3), (1, 3)])
@awaited
async def test_a_kept_connection_that_was_closed_is_replaced_once(
    harness: Harness, answers: int, requests: int
) -> None:
    from twisted.internet import reactor as global_reactor

    reactor: Any = global_reactor
    server: Any = type("Server", (ClosesKept,), {"answers": answers})
    port = reactor.listenTCP(0, Factory.forProtocol(server), interface="127.0.0.1")
    client = Client(harness.prober._network)
    url = f"http://127.0.0.1:{port.getHost().port}/"
    try:
        for number in range(2):
            response = client.request("POST", url, {}, b"{}", max_bytes=100)
            if number < answers:
                assert await body_of(await response) == b"ok"
            else:
                with pytest.raises(ResponseNeverReceived):
                    await response
        assert server.requests == requests
    finally:
        await client.close()
        await port.stopListening()


@awaited
async def test_a_request_has_a_path(harness: Harness) -> None:
    """The target of a request begins with a slash (RFC 9112, section 3.2.1)."""
    await harness.prober.check(f"{harness.origin}?key=a", "streamable-http", False)
    assert {path for _, path, _ in harness.remotes.requests} == {"/robots.txt", "/"}


@awaited
async def test_a_user_agent_names_the_contact(harness: Harness) -> None:
    await harness.check("modern")
    agents = {headers["user-agent"] for _, _, headers in harness.remotes.requests}
    assert agents == {f"directory-server/{__version__} (verification; +ops@acme.example)"}


@pytest.mark.parametrize("contact", ["a\r\nX: y", "ä@acme.example", "a) evil (", "\\"])
def test_an_invalid_contact_is_rejected(contact: str) -> None:
    with pytest.raises(ValueError, match="printable ASCII"):
        user_agent(contact)

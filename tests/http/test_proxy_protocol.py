"""The PROXY protocol: the client's address is sent with the first bytes."""

from __future__ import annotations

from typing import Any

from twisted.internet.address import IPv4Address
from twisted.internet.testing import StringTransport
from twisted.protocols.haproxy._wrapper import HAProxyWrappingFactory

from ..web.conftest import Server, parse_response

SEARCH = b"GET /api/open/v1/search?keywords=a HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer wrong\r\n\r\n"


def status(server: Server, client: str) -> int:
    """Return the status of a request with an invalid key that a proxy forwards for `client`."""
    peer = IPv4Address("TCP", "192.0.2.200", 50_000)
    protocol: Any = HAProxyWrappingFactory(server.site).buildProtocol(peer)
    transport = StringTransport(peerAddress=peer)
    protocol.makeConnection(transport)
    protocol.dataReceived(b"PROXY TCP4 %s 192.0.2.201 1000 80\r\n" % client.encode() + SEARCH)
    return parse_response(transport.value()).status


def test_the_proxy_header_identifies_clients(server: Server) -> None:
    statuses = []
    for _ in range(31):
        statuses.append(status(server, "198.51.100.1"))
        for each in list(server.site.connections._open):
            each.connectionLost()
    assert statuses == [*[401] * 30, 429]
    assert status(server, "198.51.100.2") == 401

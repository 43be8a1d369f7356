"""TLS of remotes: the name of the URL is verified, though connections use the checked address."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_twisted  # type: ignore[import-untyped]
from attrs import evolve
from twisted.internet.protocol import Factory, Protocol
from twisted.internet.ssl import PrivateCertificate

from directory_server.domain.checks import RemoteStatus
from directory_server.features.verification.results import RemoteCheck
from tests.features.verification.remotes.fake_remotes import FakeRemotes

from ....contract import awaited
from ....process._certificates import holder
from .conftest import Harness
from .test_addresses import Names


class Plain(Protocol):
    """A server that answers anything with HTTP, without TLS."""

    def dataReceived(self, data: bytes) -> None:
        assert self.transport is not None
        self.transport.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        self.transport.loseConnection()


@pytest.fixture
def secured(tmp_path: Path) -> Iterator[tuple[int, Path, list[bytes]]]:
    """Serve fake remotes with a certificate for a.example; yield the port, the certificate and the names of SNI."""
    from twisted.internet import reactor as global_reactor
    from twisted.web.server import Site

    reactor: Any = global_reactor
    issued, names = holder("a.example"), list[bytes]()
    options = PrivateCertificate.loadPEM(issued.private_pem + issued.pem).options()
    options.getContext().set_tlsext_servername_callback(lambda connection: names.append(connection.get_servername()))
    port = reactor.listenSSL(0, Site(FakeRemotes()), options, interface="127.0.0.1")
    certificate = tmp_path / "a.pem"
    certificate.write_bytes(issued.pem)
    yield port.getHost().port, certificate, names
    pytest_twisted.blockon(port.stopListening())


async def check(harness: Harness, url: str) -> RemoteCheck:
    names = Names({"a.example": [["127.0.0.1"]], "b.example": [["127.0.0.1"]], "127.0.0.1": [["127.0.0.1"]]})
    network = harness.prober._network
    prober = evolve(harness.prober, network=evolve(network, addresses=evolve(network.addresses, resolve=names)))
    return await prober.check(url, "streamable-http", False)


@awaited
async def test_a_remote_with_a_trusted_certificate_works(
    harness: Harness, secured: tuple[int, Path, list[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    port, certificate, names = secured
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    found = await check(harness, f"https://a.example:{port}/stateful")
    assert (found.status, len(found.tools)) == (RemoteStatus.WORKS, 2), found.detail
    assert set(names) == {b"a.example"}


@pytest.mark.parametrize(
    ("host", "is_trusted", "detail"),
    [
        ("a.example", False, "Its certificate is not trusted on this machine."),
        ("b.example", True, "Its certificate is not for b.example."),
        ("127.0.0.1", True, "Its certificate is not for 127.0.0.1."),
    ],
)
@awaited
async def test_an_invalid_certificate_is_a_tls_error(
    harness: Harness,
    secured: tuple[int, Path, list[bytes]],
    monkeypatch: pytest.MonkeyPatch,
    host: str,
    is_trusted: bool,
    detail: str,
) -> None:
    port, certificate, _ = secured
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate) if is_trusted else "/dev/null")
    found = await check(harness, f"https://{host}:{port}/modern")
    assert (found.status, found.detail) == (RemoteStatus.TLS_ERROR, detail)


@awaited
async def test_a_server_without_tls_is_a_tls_error(harness: Harness) -> None:
    from twisted.internet import reactor as global_reactor

    reactor: Any = global_reactor
    port = reactor.listenTCP(0, Factory.forProtocol(Plain), interface="127.0.0.1")
    found = await check(harness, f"https://a.example:{port.getHost().port}/modern")
    assert (found.status, found.detail) == (RemoteStatus.TLS_ERROR, "No TLS connection was possible.")
    await port.stopListening()


@awaited
async def test_a_server_with_tls_is_not_asked_without(harness: Harness, secured: tuple[int, Path, list[bytes]]) -> None:
    found = await check(harness, f"http://a.example:{secured[0]}/modern")
    assert found.status in (RemoteStatus.NOT_MCP, RemoteStatus.UNREACHABLE)

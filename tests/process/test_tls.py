"""TLS by an ssl endpoint, as in docs/operations.md."""

from __future__ import annotations

import ssl
from http.client import HTTPSConnection

import pytest

from .conftest import TIMEOUT, Installation

pytest.importorskip("OpenSSL")
pytestmark = pytest.mark.process


@pytest.fixture
def client_context(installation: Installation) -> ssl.SSLContext:
    """Write the key and certificates of the server; return the context of a client that trusts only the root."""
    from ._certificates import holder

    root = holder("root", authority=True)
    between = holder("between", root, authority=True)
    server = holder("localhost", between)
    for name, pem in {"key": server.private_pem, "cert": server.pem, "chain": between.pem}.items():
        (installation.folder / f"{name}.pem").write_bytes(pem)
    return ssl.create_default_context(cadata=root.pem.decode())


def test_server_sends_its_certificate_chain(installation: Installation, client_context: ssl.SSLContext) -> None:
    listen = "ssl:0:interface=127.0.0.1:privateKey=key.pem:certKey=cert.pem:extraCertChain=chain.pem"
    client_context.set_alpn_protocols(["h2", "http/1.1"])
    with installation.serve(listen=listen) as server:
        connection = HTTPSConnection("localhost", server.port, timeout=TIMEOUT, context=client_context)
        connection.request("GET", "/healthz")
        assert connection.sock.version() in ("TLSv1.2", "TLSv1.3")
        assert connection.sock.selected_alpn_protocol() == "http/1.1"
        for _ in range(2):
            with connection.getresponse() as response:
                assert response.status == 200
            connection.request("GET", "/healthz")
        connection.close()
        server.stop()

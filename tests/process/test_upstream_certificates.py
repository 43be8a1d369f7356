"""Certificates of upstreams: each reason to reject one is printed in one line."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes

from ._certificates import holder
from .conftest import TIMEOUT, environment, run_command

pytestmark = pytest.mark.process


class Empty(BaseHTTPRequestHandler):
    """A registry without servers."""

    def do_GET(self) -> None:
        body = b'{"servers": [], "metadata": {}}'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


@contextmanager
def serving(pem: Path) -> Iterator[int]:
    """Serve an empty registry with the certificate in `pem`, and yield its port."""
    server = HTTPServer(("127.0.0.1", 0), Empty)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    # By default the server would print each failed handshake.
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join(TIMEOUT)
    server.server_close()


def pem(folder: Path, *, names: bool) -> Path:
    """Write a key and a certificate for localhost, with `names` as alternative name, else only as common name."""
    issued = holder("localhost")
    certificate = issued.certificate
    if not names:
        certificate = x509.CertificateBuilder(
            certificate.subject,
            certificate.subject,
            issued.key.public_key(),
            x509.random_serial_number(),
            certificate.not_valid_before_utc,
            certificate.not_valid_after_utc,
        ).sign(issued.key, hashes.SHA256())
    file = folder / "localhost.pem"
    file.write_bytes(issued.private_pem + type(issued)(issued.key, certificate).pem)
    return file


@pytest.mark.parametrize(
    ("host", "names", "trusted", "message"),
    [
        ("localhost", True, True, ""),
        ("localhost", True, False, "official: Its certificate is not trusted on this machine.\n"),
        ("localhost", False, True, "official: Its certificate is not for localhost.\n"),
        ("127.0.0.1", True, True, "official: Its certificate is not for 127.0.0.1.\n"),
    ],
)
def test_rejected_certificate_is_reported_in_one_line(
    tmp_path: Path, host: str, names: bool, trusted: bool, message: str
) -> None:
    file = pem(tmp_path, names=names)
    with serving(file) as port:
        settings = tmp_path / "directory.toml"
        settings.write_text(f'[[upstream]]\nname = "official"\nurl = "https://{host}:{port}"\nfloor = 0.0\n')
        environ = environment(SSL_CERT_FILE=str(file if trusted else tmp_path / "none"))
        arguments = ["--data-dir", tmp_path / "data", "--config", settings, "sync"]
        process = run_command(*arguments, cwd=tmp_path, env=environ)
    assert (process.returncode, process.stderr) == (1 if message else 0, message)

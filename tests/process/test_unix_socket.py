"""A UNIX socket behind a proxy: its file mode, and the clients that the proxy forwards."""

from __future__ import annotations

import socket
import stat
from http.client import HTTPConnection
from pathlib import Path

import pytest

from .conftest import LISTEN, SEARCH, TIMEOUT, Installation

pytestmark = pytest.mark.process


class UnixConnection(HTTPConnection):
    """An HTTP connection over a UNIX socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=TIMEOUT)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(TIMEOUT)
        self.sock.connect(str(self._path))


def status(path: Path, client: str) -> int:
    """Return the status of a request with an invalid key that a proxy forwards for `client`."""
    connection = UnixConnection(path)
    connection.request(
        "GET", f"{SEARCH}?keywords=a", headers={"Authorization": "Bearer wrong", "X-Forwarded-For": client}
    )
    response_status = connection.getresponse().status
    connection.close()
    return response_status


def cookie(path: Path) -> str:
    """Return the cookie that the sign-in page sets behind a proxy that ends TLS."""
    connection = UnixConnection(path)
    connection.request("GET", "/account/sign-in", headers={"X-Forwarded-Proto": "https", "Accept": "text/html"})
    with connection.getresponse() as response:
        assert response.status == 200
        return response.headers["Set-Cookie"] or ""


@pytest.mark.parametrize("trusted", [True, False])
def test_forwarded_client_addresses_count_only_if_unix_sockets_are_trusted(
    installation: Installation, trusted: bool
) -> None:
    path = installation.folder / "http.sock"
    settings = ["http.failed_keys=2", *(["http.trusted_proxies=unix"] if trusted else [])]
    options = [text for each in settings for text in ("--set", each)]
    with installation.serve("-l", f"unix:{path}:mode=660", *options, listen=LISTEN):
        assert stat.S_IMODE(path.stat().st_mode) == 0o660
        assert [status(path, "192.0.2.1") for _ in range(3)] == [401, 401, 429]
        assert status(path, "192.0.2.2") == (401 if trusted else 429)
        assert ("; Secure" in cookie(path), cookie(path).startswith("__Host-session=")) == (trusted, trusted)

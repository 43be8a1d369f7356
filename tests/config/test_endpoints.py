"""URLs, loopback addresses and backlogs of endpoint descriptions."""

from __future__ import annotations

import pytest

from directory_server.cli.context import base_url
from directory_server.config.endpoints import read, with_backlog

TLS = r"tls:/etc/my\:certificates:8443"


@pytest.mark.parametrize(
    ("description", "url"),
    [
        ("tcp:8080", "http://127.0.0.1:8080"),
        ("tcp:port=8080:interface=0.0.0.0", "http://127.0.0.1:8080"),
        ("tcp:8080:interface=10.1.2.3", "http://10.1.2.3:8080"),
        (r"tcp6:8080:interface=\:\:1", "http://[::1]:8080"),
        ("tcp6:8080", "http://127.0.0.1:8080"),
        ("ssl:443:privateKey=a.pem:certKey=b.pem", "https://127.0.0.1:443"),
        ("ssl:privateKey=a1234.pem:port=444", "https://127.0.0.1:444"),
        (TLS, "https://127.0.0.1:8443"),
        ("tls:/etc/certificates8080", "https://127.0.0.1:443"),
        ("haproxy:tcp:8080", "http://127.0.0.1:8080"),
        ("unix:/run/a8080.sock", None),
        ("systemd:domain=INET:index=0", None),
        ("nonsense:8080", None),
    ],
)
def test_url_of_an_endpoint(description: str, url: str | None) -> None:
    assert read(description).url == url


@pytest.mark.parametrize(
    ("description", "is_loopback"),
    [
        ("tcp:80:interface=127.0.0.1", True),
        ("tcp:interface=localhost:port=80", True),
        (r"tcp6:80:interface=\:\:1", True),
        (rf"{TLS}:interface=127.0.0.2", True),
        ("tcp:80", False),
        ("tcp:80:interface=12.7.0.1", False),
        (r"tcp6:80:interface=\:\:", False),
        ("unix:/run/interface=127.0.0.1", False),
        ("systemd:domain=INET:index=0", False),
    ],
)
def test_loopback_endpoints(description: str, is_loopback: bool) -> None:
    assert read(description).is_loopback is is_loopback


@pytest.mark.parametrize("description", ["tcp:80", TLS, "ssl:443:privateKey=a.pem", "unix:a.sock", "haproxy:tcp:80"])
def test_backlog_is_added_unless_it_is_given(description: str) -> None:
    assert with_backlog(description) == f"{description}:backlog=2048"
    assert with_backlog(f"{description}:backlog=7") == f"{description}:backlog=7"


def test_backlog_of_a_systemd_socket_is_unchanged() -> None:
    assert with_backlog("systemd:domain=INET:index=0") == "systemd:domain=INET:index=0"


def test_the_url_is_that_of_the_first_port() -> None:
    assert base_url(["unix:/run/directory.sock", "tcp:81"]) == "http://127.0.0.1:81"

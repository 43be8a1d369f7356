"""Strict-Transport-Security (RFC 6797)."""

from __future__ import annotations

import pytest

from ..conftest import Response, Server

YEAR = 31_536_000


def page(server: Server, path: str, address: str, **headers: str) -> Response:
    return server.get(path, key=None, address=address, headers={"Accept": "text/html", **headers})


@pytest.mark.parametrize("server", [{"web.hsts": YEAR}], indirect=True)
@pytest.mark.parametrize("path", ["/", "/nowhere", "/account/sign-in"])
def test_pages_over_tls_have_the_hsts_header(server: Server, path: str) -> None:
    response = page(server, path, "10.0.0.1", **{"X-Forwarded-Proto": "https"})
    assert response.headers.get_all("Strict-Transport-Security") == [f"max-age={YEAR}"]


@pytest.mark.parametrize("server", [{"web.hsts": YEAR}], indirect=True)
@pytest.mark.parametrize(
    ("address", "headers"),
    [("10.0.0.1", {}), ("10.0.0.1", {"X-Forwarded-Proto": "http"}), ("192.0.2.1", {"X-Forwarded-Proto": "https"})],
    ids=["no header", "without TLS", "untrusted proxy"],
)
def test_pages_without_tls_have_no_hsts_header(server: Server, address: str, headers: dict[str, str]) -> None:
    assert page(server, "/", address, **headers).headers["Strict-Transport-Security"] is None


def test_hsts_is_off_by_default(server: Server) -> None:
    assert page(server, "/", "10.0.0.1", **{"X-Forwarded-Proto": "https"}).headers["Strict-Transport-Security"] is None

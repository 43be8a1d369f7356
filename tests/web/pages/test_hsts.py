"""Strict-Transport-Security (RFC 6797)."""

from __future__ import annotations

import pytest

from ..conftest import Answer, Server

YEAR = 31_536_000


def page(server: Server, path: str, address: str, **headers: str) -> Answer:
    return server.get(path, key=None, address=address, headers={"Accept": "text/html", **headers})


@pytest.mark.parametrize("server", [{"hsts": YEAR}], indirect=True)
@pytest.mark.parametrize("path", ["/", "/nowhere", "/account/sign-in"])
def test_a_page_that_came_by_tls_asks_for_tls_from_then_on(server: Server, path: str) -> None:
    answer = page(server, path, "10.0.0.1", **{"X-Forwarded-Proto": "https"})
    assert answer.headers.get_all("Strict-Transport-Security") == [f"max-age={YEAR}"]


@pytest.mark.parametrize("server", [{"hsts": YEAR}], indirect=True)
@pytest.mark.parametrize(
    ("address", "headers"),
    [("10.0.0.1", {}), ("10.0.0.1", {"X-Forwarded-Proto": "http"}), ("192.0.2.1", {"X-Forwarded-Proto": "https"})],
    ids=["not told", "without TLS", "told by a stranger"],
)
def test_a_page_without_tls_does_not_ask_for_it(server: Server, address: str, headers: dict[str, str]) -> None:
    assert page(server, "/", address, **headers).headers["Strict-Transport-Security"] is None


def test_nothing_is_asked_for_unless_that_is_set(server: Server) -> None:
    assert page(server, "/", "10.0.0.1", **{"X-Forwarded-Proto": "https"}).headers["Strict-Transport-Security"] is None

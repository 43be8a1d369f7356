"""Access to pages: members only, disabled pages, rate limits and notification streams."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from directory_server.domain.entries import Entry

from ..conftest import POSTGRES, POSTGRES_ID, Server, entry, parse_response
from .conftest import BROWSER, Document, GetPage


@pytest.mark.parametrize("server", ["accounts"], indirect=True)
@pytest.mark.parametrize("path", ["/", "/?q=postgres&lang=zh", f"/servers/{POSTGRES_ID}", "/news"])
def test_members_only_pages_redirect_to_sign_in(get_page: GetPage, path: str) -> None:
    response = get_page(path)
    assert response.status == 303
    assert response.headers["Location"] == "/account/sign-in?next=" + quote(path, safe="")
    assert b"Postgres" not in response.body


@pytest.mark.parametrize("server", ["accounts"], indirect=True)
def test_members_can_view_members_only_pages(get_page: GetPage) -> None:
    page = Document(get_page("/?q=postgres", Cookie="test=ada"))
    assert f"/servers/{POSTGRES_ID}" in page.links
    assert "/account/keys" in page.links
    assert "ada@example.org" in page.text


@pytest.mark.parametrize("server", ["off"], indirect=True)
@pytest.mark.parametrize("path", ["/", f"/servers/{POSTGRES_ID}", "/news"])
def test_disabled_pages_are_not_found_for_members(get_page: GetPage, path: str) -> None:
    assert get_page(path, Cookie="test=ada").status == 404


def test_page_requests_are_limited_by_address(get_page: GetPage, server: Server) -> None:
    for _ in range(60):
        assert get_page("/").status == 200
    response = get_page("/")
    assert response.status == 429
    assert response.headers["Retry-After"] == "1"
    assert "Try again in 1 second." in Document(response).text
    server.clock.advance(1)
    assert get_page("/").status == 200


def test_page_requests_of_members_are_limited_by_account(server: Server) -> None:
    def status_of(member: str, address: str) -> int:
        headers = {**BROWSER, "Cookie": f"test={member}"}
        connection = server.open("GET", "/?q=postgres", key=None, headers=headers, address=address)
        response = parse_response(connection.received())
        connection.close()
        return response.status

    statuses = [status_of("ada", f"192.0.2.{number}") for number in range(61)]
    assert statuses == [200] * 60 + [429]
    # Other members and anonymous viewers at the same address, as in an office, are not limited.
    assert status_of("bob", "192.0.2.1") == 200
    assert status_of("", "192.0.2.1") == 200
    server.clock.advance(1)
    assert status_of("ada", "192.0.2.1") == 200


def test_open_pages_are_notified_of_new_servers(server: Server) -> None:
    connection = server.open("GET", "/news", key=None)
    head = connection.received()
    assert b"200 OK" in head
    assert b"text/event-stream" in head
    server.publish(entry("io.github.example/one"), entry("io.github.example/two"))
    server.clock.advance(0)
    assert connection.received() == b'event: added\ndata: {"added":2}\n\n'
    server.publish(Entry({**POSTGRES.server, "description": "Changed."}))
    server.clock.advance(0)
    assert connection.received() == b""
    connection.close()


def test_notification_streams_are_limited_by_address(server: Server) -> None:
    held = [server.open("GET", "/news", key=None) for _ in range(2)]
    assert all(b"200 OK" in connection.received() for connection in held)
    assert server.get("/news", key=None).status == 429
    held[0].close()
    again = server.open("GET", "/news", key=None)
    assert b"200 OK" in again.received()
    for connection in (held[1], again):
        connection.close()

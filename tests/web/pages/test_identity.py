"""Who is behind an entry, on its page and in lists."""

from __future__ import annotations

from attrs import evolve

from ..conftest import Server, entry
from .conftest import GetPage

KNOWN = evolve(entry("io.github.acme/weather-tool", "Forecasts of zeppelins."), is_official=True)


def test_a_verified_publisher_is_shown_on_the_page_and_in_lists(server: Server, get_page: GetPage) -> None:
    server.publish(KNOWN)
    page = get_page(f"/servers/{KNOWN.mcp_id}").body.decode()
    assert "Publisher verified" in page
    assert "Publisher has proven to own <bdi>io.github.acme</bdi>" in page
    assert get_page("/?q=zeppelins").body.decode().count("Publisher verified") == 1


def test_an_unknown_publisher_costs_nothing_but_the_mark(server: Server, get_page: GetPage) -> None:
    unknown = evolve(KNOWN, is_official=False)
    server.publish(unknown)
    page = get_page(f"/servers/{unknown.mcp_id}").body.decode()
    assert "Publisher verified" not in page
    assert "Who is behind it" not in page
    assert "Publisher verified" not in get_page("/?q=zeppelins").body.decode()

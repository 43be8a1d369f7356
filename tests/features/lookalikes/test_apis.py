"""Look-alikes from end to end: the flag in all APIs and on pages, and names that are not published."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from directory_server.domain.entries import mcp_id_of
from directory_server.features.lookalikes.tracker import INTERVAL, LEASE_NAME

from ...web.conftest import Server, entry
from ...web.pages.conftest import GetPage
from ..publishing.conftest import new_publisher, server_json

ORIGINAL, COPY = "io.acme/weather-map", "io.acme/weather_map"
COPY_ID = mcp_id_of(COPY)

publishing = pytest.mark.parametrize("server", [{"publish.enabled": True}], indirect=True, ids=["publishing"])
allowing = pytest.mark.parametrize(
    "server", [{"publish.enabled": True, "lookalikes.allow": ("io.acme/*",)}], indirect=True, ids=["allowing"]
)


def find_lookalikes(server: Server) -> None:
    for service in server.application.background:
        if service.name == LEASE_NAME:
            service.startService()
            server.clock.advance(INTERVAL)
            service.stopService()


@pytest.fixture
def flagged(server: Server) -> Server:
    """Return a server that has flagged a look-alike."""
    server.publish(entry(ORIGINAL, "Forecasts of the weather."), entry(COPY, "Forecasts of the weather."))
    find_lookalikes(server)
    return server


def test_the_apis_have_the_flag(flagged: Server) -> None:
    detail = flagged.get(f"/api/open/v1/entries/{COPY_ID}").json
    assert detail["flags"] == ["lookalike"]
    (note,) = detail["flag_notes"]
    assert (note["reason"], note["server_name"], note["is_original"]) == ("same_name", ORIGINAL, False)
    original = flagged.get(f"/api/open/v1/entries/{mcp_id_of(ORIGINAL)}").json
    assert original["flags"] == []
    assert [(each["server_name"], each["is_original"]) for each in original["flag_notes"]] == [(COPY, True)]
    found = flagged.get("/api/open/v1/search?keywords=flag:lookalike&fields=server_name,flags").json["data"]
    assert found == [{"server_name": COPY, "flags": ["lookalike"]}]
    found = flagged.get("/api/open/v1/search?keywords=weather&fields=server_name,flags,version").json["data"]
    assert [(each["server_name"], each["flags"]) for each in found] == [(ORIGINAL, []), (COPY, ["lookalike"])]
    hits = flagged.call("search_mcp", {"keywords": "weather map"})["structuredContent"]["data"]
    assert [hit.get("flags") for hit in hits] == [None, ["lookalike"]]


def test_the_registry_and_the_feed_have_the_flag(flagged: Server) -> None:
    found = flagged.get(f"/v0.1/servers/{quote(COPY, safe='')}/versions/latest").json
    (flag,) = found["_meta"]["io.github.mcp-directory-server/flags"]
    assert (flag["kind"], flag["reason"], flag["other"]) == ("lookalike", "same_name", ORIGINAL)
    changes = flagged.get("/api/open/v1/changes").json["data"]
    assert [(each["event"], each.get("flags")) for each in changes if each["mcp_id"] == COPY_ID][-1] == (
        "entry.changed",
        ["lookalike"],
    )


def test_the_pages_show_both_sides(flagged: Server, get_page: GetPage) -> None:
    copy = get_page(f"/servers/{COPY_ID}")
    assert "differs only in letter case" in copy.body.decode()
    assert f'href="/servers/{mcp_id_of(ORIGINAL)}"' in copy.body.decode()
    original = get_page(f"/servers/{mcp_id_of(ORIGINAL)}").body.decode()
    assert "Another entry resembles this one" in original
    assert f'href="/servers/{COPY_ID}"' in original
    assert get_page("/?q=weather").body.decode().count("Look-alike") == 1


@publishing
def test_a_new_name_that_resembles_another_is_not_published(server: Server) -> None:
    publisher = new_publisher(server, "io.acme/*")
    assert publisher.publish(server_json(ORIGINAL)).status == 200
    response = publisher.publish(server_json(COPY))
    assert response.status == 400
    assert ORIGINAL in response.body.decode()
    assert "lookalikes.allow" in response.body.decode()
    assert publisher.publish(server_json("io.acme/weather-maps")).status == 200
    # Later versions of a published name are not new names.
    assert publisher.publish(server_json(ORIGINAL, "1.0.1")).status == 200


@publishing
def test_an_entry_of_the_operator_keeps_its_name(server: Server) -> None:
    server.publish(entry(ORIGINAL), entry(COPY))
    assert new_publisher(server, "io.acme/*").publish(server_json(COPY, "2.0.0")).status == 200


@allowing
def test_an_operator_allows_names(server: Server) -> None:
    publisher = new_publisher(server, "io.acme/*")
    assert publisher.publish(server_json(ORIGINAL)).status == 200
    assert publisher.publish(server_json(COPY)).status == 200
    find_lookalikes(server)
    assert server.get(f"/api/open/v1/entries/{COPY_ID}").json["flags"] == []


@pytest.mark.parametrize("server", [{"lookalikes.enabled": False}], indirect=True, ids=["off"])
def test_nothing_runs_when_it_is_off(server: Server) -> None:
    assert not [each for each in server.application.background if each.name == LEASE_NAME]

"""Look-alikes from end to end: the flag in all APIs and on pages, and names that are not published."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from attrs import evolve

from directory_server.domain.entries import OFFICIAL, mcp_id_of
from directory_server.domain.notes import FLAGS
from directory_server.features.lookalikes import flagged as flagged_module
from directory_server.features.lookalikes.flagged import FOLLOWER, INTERVAL
from directory_server.features.lookalikes.names import Name
from directory_server.features.lookalikes.rules import is_like

from ...web.conftest import Server, entry
from ...web.pages.conftest import GetPage
from ..publishing.conftest import new_publisher, server_json

ORIGINAL, COPY, TWIN = "io.bi1l/weather-map", "io.bill/weather_map", "io.bi1l/WeatherMap"
COPY_ID = mcp_id_of(COPY)

publishing = pytest.mark.parametrize("server", [{"publish.enabled": True}], indirect=True, ids=["publishing"])
allowing = pytest.mark.parametrize(
    "server", [{"publish.enabled": True, "lookalikes.allow": ("io.b*/*",)}], indirect=True, ids=["allowing"]
)


def find_lookalikes(server: Server) -> None:
    server.run_service(FOLLOWER, INTERVAL)


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


def test_a_duplicate_has_a_flag_of_its_own(server: Server, get_page: GetPage) -> None:
    server.publish(entry(ORIGINAL, "Forecasts of the weather."), entry(TWIN, "Forecasts of the weather."))
    find_lookalikes(server)
    detail = server.get(f"/api/open/v1/entries/{mcp_id_of(ORIGINAL)}").json
    assert detail["flags"] == ["duplicate"]
    assert [(note["kind"], note["reason"]) for note in detail["flag_notes"]] == [("duplicate", "duplicate_name")]
    found = server.get("/api/open/v1/search?keywords=flag:duplicate&fields=server_name,flags").json["data"]
    assert found == [{"server_name": ORIGINAL, "flags": ["duplicate"]}]
    assert server.get("/api/open/v1/search?keywords=flag:lookalike").json["data"] == []
    assert (
        "Another source lists this server of the same owner" in get_page(f"/servers/{detail['mcp_id']}").body.decode()
    )
    assert get_page("/?q=weather").body.decode().count("Duplicate") >= 1


@publishing
def test_a_new_name_that_resembles_another_is_not_published(server: Server) -> None:
    assert new_publisher(server, "io.bi1l/*").publish(server_json(ORIGINAL)).status == 200
    publisher = new_publisher(server, "io.bill/*")
    response = publisher.publish(server_json(COPY))
    assert response.status == 400
    assert ORIGINAL in response.body.decode()
    assert "lookalikes.allow" in response.body.decode()
    assert publisher.publish(server_json("io.bill/weather-maps")).status == 200
    # Names that were published since are compared too.
    response = new_publisher(server, "io.bil1/*").publish(server_json("io.bil1/weathermaps"))
    assert "io.bill/weather-maps" in response.body.decode()


@publishing
def test_a_new_name_is_compared_with_few_others(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    publisher, compared = new_publisher(server, "io.bill/*"), list[str]()
    server.publish(entry(ORIGINAL), *(entry(f"io.owner{number}/tool{number}") for number in range(300)))
    assert publisher.publish(server_json("io.bill/something-else")).status == 200

    def counting(new: Name, old: Name) -> bool:
        compared.append(old.text)
        return is_like(new, old)

    monkeypatch.setattr(flagged_module, "is_like", counting)
    monkeypatch.setattr(flagged_module, "_NAMES", "not read again")
    assert publisher.publish(server_json("io.bill/another-thing")).status == 200
    assert publisher.publish(server_json(COPY)).status == 400
    assert compared == [ORIGINAL]


@publishing
def test_names_of_one_publisher_may_be_alike(server: Server) -> None:
    publisher = new_publisher(server, "io.acme/*")
    for name in ("mail-1", "mail-l", "git_hub", "git-hub", "GitHub"):
        assert publisher.publish(server_json(f"io.acme/{name}")).status == 200, name
    # Later versions of a published name are not new names.
    assert publisher.publish(server_json("io.acme/mail-l", "1.0.1")).status == 200
    find_lookalikes(server)
    for kind in FLAGS:
        assert server.get(f"/api/open/v1/search?keywords=flag:{kind}").json["data"] == []


@publishing
def test_a_name_of_a_hidden_or_removed_entry_may_be_published(server: Server) -> None:
    server.publish(entry(ORIGINAL))
    assert new_publisher(server, "io.bill/*").publish(server_json(COPY)).status == 400
    deleted = evolve(entry(ORIGINAL), meta={OFFICIAL: {"status": "deleted"}})
    server.publish(deleted)
    assert new_publisher(server, "io.bill/*").publish(server_json(COPY)).status == 200


@publishing
def test_an_entry_of_the_operator_keeps_its_name(server: Server) -> None:
    server.publish(entry(ORIGINAL), entry(COPY))
    assert new_publisher(server, "io.bill/*").publish(server_json(COPY, "2.0.0")).status == 200


@allowing
def test_an_operator_allows_names(server: Server) -> None:
    assert new_publisher(server, "io.bi1l/*").publish(server_json(ORIGINAL)).status == 200
    assert new_publisher(server, "io.bill/*").publish(server_json(COPY)).status == 200
    find_lookalikes(server)
    assert server.get(f"/api/open/v1/entries/{COPY_ID}").json["flags"] == []


@pytest.mark.parametrize("server", [{"lookalikes.enabled": False}], indirect=True, ids=["off"])
def test_nothing_runs_when_it_is_off(server: Server) -> None:
    assert not [each for each in server.application.background if each.name == FOLLOWER]

"""Checks from end to end: the service with fakes of the network, and all APIs that show what it found."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from attrs import evolve

from directory_server.domain.checks import LoginKind, PackageStatus, RemoteStatus
from directory_server.domain.entries import mcp_id_of
from directory_server.domain.notes import missing_packages
from directory_server.features.verification.results import FoundTool, RemoteCheck
from directory_server.features.verification.settings import VerifyConfig
from directory_server.features.verification.tables import Verifications
from directory_server.features.verification.targets import LAG
from directory_server.runtime.run_sync import run_sync
from directory_server.serialization import decode_entry

from ...web.conftest import Server, entry
from ...web.pages.conftest import GetPage

URL = "https://weather.example/mcp"
WEATHER = entry(
    "io.github.example/weather",
    "Forecasts.",
    remotes=[{"type": "streamable-http", "url": URL}],
    packages=[{"registryType": "npm", "identifier": "weather", "version": "1.0.0"}],
)
WEATHER_ID = mcp_id_of(WEATHER.name)
TOOL = FoundTool("get_forecast", "Returns the forecast of a town.", '{"type":"object"}')
CHECK = RemoteCheck(
    URL, "streamable-http", 1_800_000_000.0, RemoteStatus.WORKS, "2025-11-25", latency=0.25, tools=(TOOL,)
)
DIGEST = "9f" * 32
OURS = "io.github.mcp-directory-server/verification"

verifying = pytest.mark.parametrize(
    "server", [{"verify.remotes": True, "verify.packages": True}], indirect=True, ids=["verifying"]
)


@pytest.fixture
def checked(server: Server) -> Server:
    """Return a server that has checked an entry, which works."""
    server.publish(WEATHER)
    server.fakes.remotes.results[URL] = evolve(CHECK, has_listed_tools=True, tools_digest=DIGEST)
    server.verify()
    return server


def test_nothing_is_checked_by_default(server: Server) -> None:
    server.publish(WEATHER)
    server.verify()
    assert not server.fakes.remotes.checked
    detail = server.get(f"/api/open/v1/entries/{WEATHER_ID}").json
    assert (detail["verified"], detail["verification"]) == ("unverified", None)


@verifying
def test_the_detail_has_the_checks(checked: Server) -> None:
    detail = checked.get(f"/api/open/v1/entries/{WEATHER_ID}").json
    assert (detail["verified"], detail["auth"]) == ("works", "none")
    assert detail["verification"] == {
        "status": "works",
        "checked_at": "2027-01-15T08:00:00Z",
        "auth": "none",
        "protocol_versions": ["2025-11-25"],
        "package": "exists",
        "names_server": None,
        "tool_count": 1,
        "has_more_tools": False,
        "tool_hints": ["no-hints"],
        "tools": [{"name": "get_forecast", "description": "Returns the forecast of a town.", "hints": {}}],
        "tool_changes": [],
        "remotes": [
            {
                **{"url": URL, "transport": "streamable-http", "status": "works", "is_down": False},
                **{"checked_at": "2027-01-15T08:00:00Z", "protocol_version": "2025-11-25", "login": None},
                **{
                    "authorization_server": "",
                    "redirected_to": "",
                    "other_transport": "",
                    "latency": 0.25,
                    "detail": "",
                },
            }
        ],
        "packages": [
            {
                **{"registry_type": "npm", "identifier": "weather", "version": "1.0.0", "status": "exists"},
                **{"checked_at": "2027-01-15T08:00:00Z", "latest_version": "", "published_at": None},
                **{"deprecation": "", "names_server": None, "released_at": None, "provenance": "", "detail": ""},
            }
        ],
    }
    every = {"mcp_id": WEATHER_ID, "fields": ",".join(detail)}
    assert checked.call("get_mcp_detail", every)["structuredContent"]["data"] == detail
    short = checked.call("get_mcp_detail", {"mcp_id": WEATHER_ID})["structuredContent"]["data"]["verification"]
    assert short["tools"] == [tool["name"] for tool in detail["verification"]["tools"]]
    assert short["status"] == detail["verification"]["status"]


@verifying
def test_searches_filter_by_checks_and_find_tools(checked: Server) -> None:
    found = checked.get("/api/open/v1/search?keywords=status:works+get_forecast&fields=server_name,verified").json
    assert found["data"] == [{"server_name": WEATHER.name, "verified": "works"}]
    found = checked.get("/api/open/v1/search?keywords=town&fields=title,verification").json
    [hit] = found["data"]
    assert (hit["verification"]["status"], hit["verification"]["remotes"]) == ("works", [])
    [hit] = checked.call("search_mcp", {"keywords": "get_forecast"})["structuredContent"]["data"]
    assert (hit["trust"], hit["auth"]) == ("works, no-hints", "none")
    detail = checked.get(f"/api/open/v1/entries/{WEATHER_ID}").json
    [hit] = checked.get("/api/open/v1/search?keywords=town&fields=trust").json["data"]
    assert (
        hit["trust"]
        == detail["trust"]
        == ("Publisher unknown · answers · 1 tool, without hints · checked 2027-01-15T08:00Z")
    )


@verifying
def test_a_search_reads_no_database(checked: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("a query")

    checked.get("/api/open/v1/search?keywords=town")
    monkeypatch.setattr(Verifications, "states", fail)
    assert checked.get("/api/open/v1/search?keywords=town+forecast&fields=name,verification").status == 200


@verifying
def test_the_registry_has_the_checks_of_the_latest_version(checked: Server) -> None:
    [item] = checked.get("/v0.1/servers?search=weather").json["servers"]
    assert item["_meta"][OURS] == {
        "status": "works",
        "checkedAt": "2027-01-15T08:00:00Z",
        "toolCount": 1,
        "toolsDigest": f"sha256:{DIGEST}",
        "protocolVersions": ["2025-11-25"],
        "auth": "none",
        "package": "exists",
    }
    others = checked.get("/v0.1/servers").json["servers"]
    assert [OURS in each["_meta"] for each in others] == [False, False, True]


@verifying
def test_an_import_leaves_out_the_checks_of_another_directory(checked: Server) -> None:
    [item] = checked.get("/v0.1/servers?search=weather").json["servers"]
    assert OURS not in decode_entry(item).meta


@verifying
def test_a_change_of_the_status_is_in_the_change_feed(checked: Server) -> None:
    since = checked.get("/api/open/v1/changes").json["next"]
    log = checked.get("/api/open/v1/changes").json["data"]
    assert [(each["event"], each.get("verified")) for each in log if each["mcp_id"] == WEATHER_ID][-1] == (
        "entry.changed",
        "works",
    )
    checked.clock.advance(86_400 * 1.2)
    checked.verify()
    assert checked.get(f"/api/open/v1/changes?since={since}").json["data"] == []
    checked.fakes.remotes.results[URL] = RemoteCheck(
        URL, "sse", checked.clock.seconds(), RemoteStatus.NEEDS_LOGIN, login=LoginKind.OAUTH
    )
    checked.clock.advance(86_400 * 1.2)
    checked.verify()
    [change] = checked.get(f"/api/open/v1/changes?since={since}").json["data"]
    assert (change["mcp_id"], change["verified"]) == (WEATHER_ID, "needs_login")


@verifying
def test_metrics_count_checks_and_entries(checked: Server) -> None:

    registry = checked.application.metrics.registry
    labels = {"kind": "remote", "status": "works"}
    assert registry.get_sample_value("directory_checks_total", labels) == 1
    assert registry.get_sample_value("directory_verified_entries", {"status": "works"}) == 1
    assert registry.get_sample_value("directory_checks_due") == 0


@verifying
def test_a_package_that_vanished_is_failing(server: Server) -> None:
    server.publish(entry("io.github.example/gone", packages=[{"registryType": "npm", "identifier": "gone"}]))
    server.fakes.packages.statuses = {"gone": PackageStatus.MISSING}
    server.verify()
    detail = server.get(f"/api/open/v1/entries/{mcp_id_of('io.github.example/gone')}").json
    assert (detail["verified"], detail["verification"]["package"]) == ("failing", "missing")


@verifying
def test_a_package_that_is_not_there_yet_is_said_later(server: Server, get_page: GetPage) -> None:
    name = "io.github.example/gone"
    server.publish(entry(name, packages=[{"registryType": "npm", "identifier": "gone", "version": "1.0.0"}]))
    server.fakes.packages.statuses = {"gone": PackageStatus.VERSION_MISSING}
    store, head = server.application.storage.store, run_sync(server.application.storage.store.head())

    def said() -> tuple[list[Sequence[str]], bool]:
        """Check what is due; return the packages that webhooks are sent, and whether the page names one."""
        server.verify()
        server.application.feed.wake()
        changes = [change for change in run_sync(store.changes(head, 10)) if change.cause == "package"]
        page = get_page("/publishers/io.github.example").body.decode()
        return [missing_packages(change.notes) for change in changes], "<code>npm gone 1.0.0</code>" in page

    assert said() == ([], False)
    server.clock.advance(LAG * 1.1)
    assert said() == ([["npm gone 1.0.0"]], True)
    server.clock.advance(VerifyConfig().retry * 1.1)
    assert said() == ([["npm gone 1.0.0"]], True)
    server.fakes.packages.statuses = {}
    server.clock.advance(VerifyConfig().retry * 1.1)
    # A change has the notes of now.
    assert said() == ([[], []], False)

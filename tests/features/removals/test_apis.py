"""A malicious package from end to end: search, detail, registry, feed, pages, and the command."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import pytest
from attrs import evolve
from twisted.internet.threads import deferToThread

from directory_server.config import Config
from directory_server.domain.entries import mcp_id_of
from directory_server.features.removals.remover import INTERVAL, remover_of
from directory_server.features.removals.settings import RemovalsConfig
from directory_server.runtime.run_sync import inline, run_sync

from ...cli.conftest import CommandLine, run_in_test_reactor
from ...contract import awaited
from ...web.conftest import Server, entry
from ...web.pages.conftest import GetPage
from .test_remover import NAME, record

ID = mcp_id_of(NAME)
MAIL = entry(
    NAME,
    "Sends mail with Postmark.",
    packages=[
        {"registryType": "npm", "identifier": "postmark-mcp", "version": "1.0.16", "transport": {"type": "stdio"}}
    ],
)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("osv") / "MAL-2025-47604.json"
    path.write_text(record())
    return path


def removing(server: Server, source: Path) -> Server:
    """Run the service of a server with the source."""
    config = Config(features={"removals": RemovalsConfig(sources=(str(source),))})
    remover = remover_of(
        config,
        server.application.storage,
        server.clock,
        inline,
        lambda: 1_800_000_000.0,
    )
    service = remover.follower(server.application.storage, server.clock, server.directory._bus.announce)
    service.startService()
    server.clock.advance(INTERVAL)
    service.stopService()
    return server


@pytest.fixture
def removed(server: Server, source: Path) -> Server:
    """Return a server that has removed an entry."""
    server.publish(MAIL)
    return removing(server, source)


def test_the_apis_have_the_reason_and_no_install_data(removed: Server) -> None:
    detail = removed.get(f"/api/open/v1/entries/{ID}").json
    assert (detail["status"], detail["packages"], detail["install"]) == ("deleted", [], [])
    assert "MAL-2025-47604" in detail["status_message"]
    assert "packages" not in detail["server"]
    (hit,) = removed.call("search_mcp", {"keywords": "postmark"})["structuredContent"]["data"]
    assert (hit["status"], "MAL-2025-47604" in hit["status_message"], "installable" in hit) == ("deleted", True, False)
    found = removed.get(f"/v0.1/servers/{quote(NAME, safe='')}/versions/latest?include_deleted=true").json
    assert found["_meta"]["io.modelcontextprotocol.registry/official"]["status"] == "deleted"
    assert "packages" not in found["server"]
    assert NAME not in [each["server"]["name"] for each in removed.get("/v0.1/servers").json["servers"]]
    last = removed.get("/api/open/v1/changes").json["data"][-1]
    assert (last["event"], last["mcp_id"]) == ("entry.changed", ID)


def test_pages_have_the_reason(removed: Server, get_page: GetPage) -> None:
    page = get_page(f"/servers/{ID}").body.decode()
    assert "This server was removed." in page
    assert "MAL-2025-47604" in page
    assert "postmark-mcp@" not in page
    listed = get_page("/removals").body.decode()
    assert NAME in listed
    assert "MAL-2025-47604" in listed
    assert ">Removed<" in get_page("/?q=postmark").body.decode()


def test_the_page_without_removals(server: Server, get_page: GetPage) -> None:
    page = get_page("/removals").body.decode()
    assert "does not read records" in page
    assert "No server was removed." in page


@awaited
async def test_the_command_refreshes_checks_and_lists(
    directory: CommandLine, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("directory_server.features.removals.command.run_in_reactor", run_in_test_reactor)
    run_sync(directory.store.publish("local", [MAIL]))
    sources = f"removals.sources={source}"
    refreshed = await deferToThread(directory.succeed, "--set", sources, "removals", "refresh")
    assert refreshed == "Read 1 document, 0 of them invalid, with 1 malicious packages.\n"
    (found,) = json.loads(directory.succeed("removals", "list", "--json"))
    assert (found["name"], found["ids"]) == (NAME, ["MAL-2025-47604"])
    assert json.loads(directory.succeed("removals", "check", NAME, "--json")) == []
    run_sync(directory.store.publish("local", [evolve(MAIL, server={**MAIL.server, "name": "io.acme/another"})]))
    checked = directory.run("removals", "check")
    assert checked.exit_code == 1
    assert "io.acme/another" in checked.stdout
    # Without sources, all is restored.
    await deferToThread(directory.succeed, "removals", "refresh")
    assert json.loads(directory.succeed("removals", "list", "--json")) == []

"""Entries of other kinds than servers in each API: only those who ask for kinds see them."""

from __future__ import annotations

import re
from typing import Any
from unittest.mock import Mock
from urllib.parse import quote

import pytest
from twisted.internet.task import Clock

from directory_server.domain.changes import Change
from directory_server.domain.entries import mcp_id_of
from directory_server.runtime.run_sync import run_sync
from directory_server.web.changes._log_pages import Watch, encode_events
from directory_server.web.mcp import Announcements

from ..kinds import AGENT, PLUGIN, SKILL, of_kind
from .conftest import POSTGRES, POSTGRES_ID, Server, entry

AGENT_ENTRY, SKILL_ENTRY = of_kind(AGENT), of_kind(SKILL)

public_registry = pytest.mark.parametrize("server", [{"registry.access": "public"}], indirect=True)


def found(server: Server, keywords: str, fields: str = "server_name") -> list[Any]:
    response = server.get(f"/api/open/v1/search?keywords={quote(keywords)}&fields={fields}")
    return [list(hit.values()) for hit in response.json["data"]]


def test_rest_finds_other_kinds_for_those_who_ask_for_them(server: Server) -> None:
    server.publish(AGENT_ENTRY, SKILL_ENTRY, of_kind(PLUGIN))
    assert found(server, "plan bicycle routes between cities") == []
    assert found(server, "plan bicycle routes between cities kind:any") == [[AGENT_ENTRY.name]]
    assert found(server, "invoice kind:skill", "kind,server_name") == [["skill", SKILL_ENTRY.name]]
    (uses,) = found(server, "kind:plugin", "uses")
    assert uses == [[{"how": "plugin", "url": PLUGIN["url"], "command": ""}]]
    detail = server.get(f"/api/open/v1/entries/{AGENT_ENTRY.mcp_id}").json
    assert (detail["kind"], detail["uses"][0]["how"], detail["install"]) == ("agent", "endpoint", [])
    assert server.get(f"/api/open/v1/entries/{POSTGRES_ID}").json["kind"] == "server"
    response = server.get("/api/open/v1/search?keywords=a%20kind:robot")
    assert response.json["message"] == "keywords: kind: must be server, agent, skill, plugin or any, not 'robot'."


def test_the_tools_of_mcp_speak_of_servers(server: Server) -> None:
    server.publish(AGENT_ENTRY, SKILL_ENTRY)
    for keywords in ("plan bicycle routes", "plan bicycle routes kind:agent", "kind:any invoice"):
        names = [hit["name"] for hit in server.call("search_mcp", {"keywords": keywords})["structuredContent"]["data"]]
        assert not {"Route planner", "Invoice check"}.intersection(names)
    result = server.call("get_mcp_detail", {"mcp_id": AGENT_ENTRY.mcp_id})
    assert result["isError"]
    uri = f"directory://entries/{AGENT_ENTRY.mcp_id}"
    read = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": uri}}
    assert "Unknown resource" in server.post(read).json["error"]["message"]
    listed = server.post({"jsonrpc": "2.0", "id": 1, "method": "resources/list"}).json["result"]["resources"]
    assert {resource["name"] for resource in listed}.isdisjoint({AGENT_ENTRY.name, SKILL_ENTRY.name})
    assert listed


@public_registry
def test_the_registry_api_lists_servers(server: Server) -> None:
    server.publish(POSTGRES, AGENT_ENTRY, SKILL_ENTRY)

    def names(query: str) -> list[str]:
        return [item["server"]["name"] for item in server.get(f"/v0.1/servers?{query}").json["servers"]]

    expected = names("limit=100")
    assert POSTGRES.name in expected
    assert not [name for name in expected if ":" in name]
    for query in ("version=latest", "version=1.2.0", "updated_since=2020-01-01T00:00:00Z", "search=bicycle+kind:agent"):
        assert not [name for name in names(query) if ":" in name]
    path = f"/v0.1/servers/{quote(AGENT_ENTRY.name, safe='')}/versions"
    assert [server.get(path + end).status for end in ("", "/latest", "/1.2.0")] == [404, 404, 404]


def test_the_change_log_has_other_kinds_for_those_who_ask_for_them(server: Server) -> None:
    head = server.get("/api/open/v1/changes?since=0&limit=1000").json
    server.publish(AGENT_ENTRY, POSTGRES)

    def ids(query: str) -> list[str]:
        response = server.get(f"/api/open/v1/changes?since={head['next']}{query}")
        return [item["mcp_id"] for item in response.json["data"]]

    assert AGENT_ENTRY.mcp_id not in ids("")
    assert ids("&keywords=bicycle") == []
    assert ids("&keywords=kind:agent") == [AGENT_ENTRY.mcp_id]


def test_streams_have_changes_of_servers_unless_they_ask_for_kinds() -> None:
    names = ["a/agent:a", "a/agent:a", "a/b", "a/b"]
    changes = [Change(seq, "removed", mcp_id_of(name), None, None, name=name) for seq, name in enumerate(names, 1)]
    watches = [Watch(None), Watch("mail"), Watch("kind:agent")]
    events = encode_events(changes[1::2], watches, lambda change, queries: {*queries}, "0" * 12, 10_000)
    seqs = {watch.keywords: [int(seq) for seq in re.findall(rb"id: (\d+)", data)] for watch, data in events.items()}
    assert seqs == {None: [4], "mail": [4], "kind:agent": [2, 4]}


def test_a_change_of_an_agent_is_not_announced_to_clients_of_mcp() -> None:
    clock, hub = Clock(), Mock()
    announcements = Announcements(hub, clock)
    run_sync(announcements.apply([Change(1, "added", "x", b"", None, name="a/agent:a")]))
    assert not clock.getDelayedCalls()
    run_sync(announcements.apply([Change(2, "added", "x", b"", None, name="a/a")]))
    assert clock.getDelayedCalls()


@pytest.mark.parametrize("server", [{"managed_settings.enabled": True}], indirect=True)
def test_managed_settings_allow_and_deny_servers(server: Server) -> None:
    curation = server.application.storage.curation
    for listed in run_sync(curation.curated()):
        run_sync(curation.disown(listed.name))
    server.publish(AGENT_ENTRY, SKILL_ENTRY)
    run_sync(curation.mark(AGENT_ENTRY.name, "allowed", True))
    run_sync(curation.mark(SKILL_ENTRY.name, "hidden", True))
    path = "/api/open/v1/managed-settings/copilot.json"
    # An empty allow list would block all servers.
    assert server.get(path).status == 404
    remote = {"type": "streamable-http", "url": "https://mail.example.org/mcp"}
    server.publish(entry("com.acme/mail", "Reads mail.", remotes=[remote]))
    run_sync(curation.mark("com.acme/mail", "allowed", True))
    server.clock.advance(60)
    document = server.get(path).json
    assert (document["allowedMcpServers"], document["deniedMcpServers"]) == ([{"serverUrl": remote["url"]}], [])


@public_registry
def test_the_marketplace_has_servers(server: Server) -> None:
    remote = {"type": "streamable-http", "url": "https://mail.example.org/mcp"}
    server.publish(of_kind(PLUGIN), AGENT_ENTRY, entry("com.acme/mail", "Reviews mail.", remotes=[remote]))
    for query in ("", "?q=review", "?q=review+kind:plugin", "?q=review+kind:any"):
        plugins = server.get(f"/v0.1/claude/marketplace.json{query}").json["plugins"]
        assert all(plugin["name"].startswith("com-acme-mail-") for plugin in plugins)
        assert plugins or "kind:" in query


def test_the_feed_of_a_search_has_the_kinds_of_its_page(server: Server) -> None:
    server.publish(AGENT_ENTRY, SKILL_ENTRY)
    for query, has_agent in (("", False), ("?q=bicycle", True), ("?q=bicycle+kind:server", False)):
        feed = server.get(f"/feed.atom{query}").body.decode()
        assert (AGENT_ENTRY.mcp_id in feed) is has_agent

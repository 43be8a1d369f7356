"""Agents, skills and plugins in the ARD registry."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from directory_server.features.ard.names import names_of, urn

from ...kinds import AGENT, AGENT_CARD, PLUGIN, SKILL, SKILL_FILE, of_kind
from ...web.conftest import POSTGRES, Response, Server
from .test_registry import CARD_TYPE, post, public

AGENT_TYPE, SKILL_TYPE = "application/a2a-agent-card+json", "application/ai-skill"
COPILOT, CURSOR = "application/vnd.github.copilot-plugin", "application/vnd.cursor.cursor-plugin+json"
ENTRIES = [
    POSTGRES,
    *(of_kind(item) for item in (AGENT, SKILL, PLUGIN)),
    of_kind(PLUGIN, identifier="urn:air:acme.com:cursor", type=CURSOR),
]


def search(server: Server, text: str, **filters: Any) -> list[dict[str, Any]]:
    body = {"query": {"text": text, "filter": filters}, "federation": "none"}
    results: list[dict[str, Any]] = post(server, "search", body, key=None).json["results"]
    return results


def listed(server: Server, types: str) -> list[str]:
    return [item["identifier"] for item in get(server, f"agents?type={quote(types)}").json["items"]]


def get(server: Server, path: str) -> Response:
    return server.get(f"/api/ard/v1/{path}", key=None)


@public
def test_agents_and_skills_are_found_by_a_sentence(server: Server) -> None:
    server.publish(*ENTRIES)
    (agent,) = search(server, "which agent plans bicycle routes between cities")
    assert (agent["type"], agent["identifier"]) == (AGENT_TYPE, "urn:air:acme.com:agent:routes")
    assert agent["capabilities"] == ["plan_route"]
    (skill,) = search(server, "check an invoice against the purchase order")
    assert (skill["type"], skill["version"]) == (SKILL_TYPE, "0.0.0")
    assert search(server, "check an invoice", type=[CARD_TYPE]) == []
    assert [found["identifier"] for found in search(server, "bicycle", type=["application/agent-card+json"])] == [
        "urn:air:acme.com:agent:routes"
    ]


@public
def test_the_list_and_the_facets_tell_media_types_apart(server: Server) -> None:
    server.publish(*ENTRIES)
    assert listed(server, f"{COPILOT},{SKILL_TYPE}") == [
        "urn:air:acme.com:plugin:tools.reviewer",
        "urn:air:acme.com:skill:invoice-check",
    ]
    assert listed(server, CURSOR) == ["urn:air:acme.com:plugin:cursor"]
    assert "urn:air:acme.com:plugin:cursor" not in listed(server, "application/mcp-server+json")
    body = {"query": {"filter": {"publisher": "acme.com"}}, "resultType": {"facets": [{"field": "type"}]}}
    buckets = post(server, "explore", body, key=None).json["facets"]["type"]["buckets"]
    assert {bucket["value"]: bucket["count"] for bucket in buckets} == dict.fromkeys(
        (AGENT_TYPE, SKILL_TYPE, COPILOT, CURSOR), 1
    )


@public
def test_an_entry_and_its_card_are_found_by_the_identifier(server: Server) -> None:
    server.publish(*ENTRIES)
    agent = get(server, f"agents/{quote('urn:air:acme.com:agent:routes')}").json
    assert agent["representativeQueries"] == AGENT["representativeQueries"]
    card = server.get(urlsplit(agent["url"]).path, key=None)
    assert (card.json, card.headers["Content-Type"]) == (AGENT_CARD, AGENT_TYPE)
    skill = get(server, f"cards/{of_kind(SKILL).mcp_id}")
    assert (skill.body.decode(), skill.headers["Content-Type"]) == (SKILL_FILE, "text/markdown; charset=utf-8")
    plugin = get(server, f"agents/{quote('urn:air:acme.com:plugin:tools.reviewer')}").json
    assert plugin["url"] == PLUGIN["url"]
    assert get(server, f"cards/{of_kind(PLUGIN).mcp_id}").status == 404


@pytest.mark.parametrize("name", ["com.acme/agent:a", "com.acme/skill:a.b"])
def test_identifiers_lead_back_to_names(name: str) -> None:
    assert name in names_of(urn(name, "dir.example"), "dir.example")


def test_an_item_can_be_imported_again(server: Server) -> None:
    entry = of_kind(AGENT)
    item = {**AGENT, "identifier": urn(entry.name, "dir.example")}
    assert of_kind(json.loads(json.dumps(item))) == entry

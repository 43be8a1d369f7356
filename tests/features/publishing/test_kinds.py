"""Agents, skills and plugins that are published."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from directory_server.domain.entries import mcp_id_of

from ...kinds import AGENT, AGENT_CARD, SKILL
from ...web.conftest import Server
from .conftest import Publisher, problems, server_json

NAME = "io.acme/agent:weather"
ITEM: dict[str, Any] = {**AGENT, "identifier": "urn:air:acme.io:agent:weather"}


def test_an_agent_is_published_found_and_withdrawn(publisher: Publisher, server: Server) -> None:
    assert publisher.publish(server_json()).status == 200
    response = publisher.publish(ITEM)
    assert (response.status, response.json["server"]["name"]) == (200, NAME)
    assert publisher.log()[0] == ("publish", NAME, "1.2.0", "done")
    server.clock.advance(1)
    (hit,) = server.get("/api/open/v1/search?keywords=bicycle+kind:agent&fields=server_name,version").json["data"]
    assert hit == {"server_name": NAME, "version": "1.2.0"}
    detail = server.get(f"/api/open/v1/entries/{mcp_id_of(NAME)}").json
    assert detail["published_at"] == "2027-01-15T08:00:00Z"
    assert publisher.publish(ITEM).json["title"] == "version_exists"
    later = {**ITEM, "data": {**AGENT_CARD, "version": "1.3.0"}}
    assert publisher.publish(later).status == 200
    names = [item["server"]["name"] for item in server.get("/v0.1/servers?limit=100", key=None).json["servers"]]
    assert NAME not in names
    path = f"/v0.1/servers/{quote(NAME, safe='')}/versions/1.3.0/status"
    assert publisher.send("PATCH", path, {"status": "deprecated"}).status == 200
    server.clock.advance(1)
    assert server.get(f"/api/open/v1/entries/{mcp_id_of(NAME)}").json["status"] == "deprecated"


@pytest.mark.parametrize(
    ("item", "path", "message"),
    [
        ({**ITEM, "data": {**AGENT_CARD, "version": ""}}, "version", "is required, in the card or beside it."),
        ({**ITEM, "data": {**AGENT_CARD, "version": "^1.0"}}, "version", "must be one version"),
        ({**ITEM, "data": {"name": "a"}}, "the agent's card", "description is required."),
        ({**ITEM, "type": "text/plain"}, "type", "must be one of"),
    ],
)
def test_invalid_cards_are_rejected(publisher: Publisher, item: Any, path: str, message: str) -> None:
    response = publisher.publish(item)
    assert response.status == 422
    ((where, text),) = problems(response)
    assert where.endswith(path)
    assert message in text
    validated = publisher.send("POST", "/v0.1/validate", item).json
    assert (validated["valid"], validated["issues"][0]["path"]) == (False, path)


def test_a_token_publishes_in_its_namespaces_only(publisher: Publisher, server: Server) -> None:
    response = publisher.publish({**SKILL, "version": "1.0.0"})
    assert (response.status, response.json["title"]) == (403, "forbidden_namespace")
    skill = {**SKILL, "identifier": "urn:air:acme.io:weather", "version": "1.0.0"}
    assert publisher.publish(skill).status == 200
    path = f"/v0.1/servers/{quote('io.acme/skill:weather', safe='')}/versions/latest"
    assert server.get(path, key=None).status == 404

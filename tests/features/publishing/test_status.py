"""Status changes of published versions."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from ...web.conftest import Server
from .conftest import NAME, Publisher, official, problems, server_json


def test_the_status_of_a_version_changes(publisher: Publisher, server: Server) -> None:
    publisher.publish(server_json())
    publisher.publish(server_json(version="1.1.0"))
    server.clock.advance(60)
    response = publisher.status(NAME, "1.1.0", "deprecated", "Use 2.0.0.")
    assert response.status == 200
    assert official(response.json) == {
        "status": "deprecated",
        "statusMessage": "Use 2.0.0.",
        "statusChangedAt": "2027-01-15T08:01:00Z",
        "publishedAt": "2027-01-15T08:00:00Z",
        "updatedAt": "2027-01-15T08:01:00Z",
        "isLatest": True,
    }
    deleted = publisher.status(NAME, "1.1.0", "deleted", "Leaks.")
    assert official(deleted.json)["isLatest"] is False
    path = f"/v0.1/servers/{quote(NAME, safe='')}/versions"
    assert server.get(f"{path}/latest", key=None).json["server"]["version"] == "1.0.0"
    assert server.get(f"{path}/1.1.0", key=None).status == 404
    restored = publisher.status(NAME, "1.1.0", "active")
    assert restored.status == 200
    assert official(restored.json)["isLatest"] is True
    assert "statusMessage" not in official(restored.json)
    assert [(action, outcome) for action, _, version, outcome in publisher.log() if version == "1.1.0"] == [
        ("status: active", "done"),
        ("status: deleted", "done"),
        ("status: deprecated", "done"),
        ("publish", "done"),
    ]


def test_the_status_of_all_versions_changes(publisher: Publisher, server: Server) -> None:
    for version in ("1.0.0", "1.1.0", "1.2.0"):
        publisher.publish(server_json(version=version))
    publisher.status(NAME, "1.1.0", "deleted")
    response = publisher.status(NAME, None, "deleted")
    assert response.status == 200
    assert response.json["updatedCount"] == 2
    assert [each["server"]["version"] for each in response.json["servers"]] == ["1.0.0", "1.2.0"]
    server.clock.advance(1)
    assert server.get("/api/open/v1/search?keywords=forecasts").json["data"] == []
    assert server.get("/api/open/v1/changes?since=2").json["data"][-1]["event"] == "entry.removed"
    assert publisher.log()[0] == ("status: deleted", NAME, "*", "done")
    # The name stays taken: a deleted version cannot be published again.
    assert publisher.publish(server_json()).json["title"] == "version_exists"


@pytest.mark.parametrize(
    ("body", "location", "message"),
    [
        ({}, "body.status", "is required."),
        ({"status": "gone"}, "body.status", "must be one of 'active', 'deprecated', 'deleted'."),
        ({"status": "deleted", "statusMessage": "x" * 501}, "body.statusMessage", "must have 0 to 500 characters"),
        ({"status": "deleted", "statusMessage": "\x1b[2J"}, "body.statusMessage", "must not contain control"),
        ({"status": "active", "statusMessage": "x"}, "body.statusMessage", "must be absent for the status 'active'."),
        ({"status": "deleted", "alternativeUrl": "x"}, "body.server", "unknown member 'alternativeUrl'"),
        ([], "body", "must be an object, not an array."),
    ],
)
def test_an_invalid_status_change_is_rejected(publisher: Publisher, body: Any, location: str, message: str) -> None:
    publisher.publish(server_json())
    response = publisher.send("PATCH", f"/v0.1/servers/{quote(NAME, safe='')}/versions/1.0.0/status", body)
    assert response.status == 422
    ((found, text),) = problems(response)
    assert found == location
    assert text.startswith(message)


def test_a_status_change_that_changes_nothing_is_rejected(publisher: Publisher) -> None:
    publisher.publish(server_json())
    assert publisher.status(NAME, "1.0.0", "active").json["title"] == "unchanged"
    assert publisher.status(NAME, "2.0.0", "deleted").status == 404
    path = f"/v0/servers/{quote(NAME, safe='')}/versions/2.0.0/status"
    assert publisher.send("PATCH", path, {"status": "deleted"}).status == 404
    assert publisher.send("PATCH", "/v0/servers/io.acme%2Fnone/status", {"status": "deleted"}).status == 404

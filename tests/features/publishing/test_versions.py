"""Published versions, documents that are rejected, and changes of the status."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from directory_server.domain.entries import OFFICIAL, PUBLISHER, Entry, mcp_id_of
from directory_server.domain.versions import PUBLISHED
from directory_server.runtime.run_sync import run_sync

from ...web.conftest import Server, open_server
from .conftest import NAME, Publisher, official, problems, server_json


def test_a_published_version_is_searchable_and_listed(publisher: Publisher, server: Server) -> None:
    response = publisher.publish(server_json(title="Acme Weather"))
    assert response.status == 200
    assert response.json["server"] == server_json(title="Acme Weather")
    date = "2027-01-15T08:00:00Z"
    assert official(response.json) == {"status": "active", "publishedAt": date, "updatedAt": date, "isLatest": True}
    server.clock.advance(1)
    (hit,) = server.get("/api/open/v1/search?keywords=acme+weather&limit=1").json["data"]
    assert hit["name"] == "Acme Weather"
    listed = server.get(f"/v0.1/servers/{quote(NAME, safe='')}/versions/1.0.0", key=None).json
    assert listed["server"] == server_json(title="Acme Weather")
    changes = server.get("/api/open/v1/changes?since=2").json["data"]
    assert [(each["event"], each["mcp_id"]) for each in changes] == [("entry.added", mcp_id_of(NAME))]
    assert publisher.log() == [("publish", NAME, "1.0.0", "done")]


def test_a_version_is_immutable(publisher: Publisher, server: Server) -> None:
    assert publisher.publish(server_json()).status == 200
    for again in (server_json(), server_json(description="Other.")):
        response = publisher.publish(again)
        assert response.status == 400
        assert response.json["title"] == "version_exists"
    assert server.get(f"/v0/servers/{quote(NAME, safe='')}/versions/1.0.0", key=None).json["server"] == server_json()
    assert [outcome for *_, outcome in publisher.log()] == ["version_exists", "version_exists", "done"]


def test_the_latest_version_is_the_highest(publisher: Publisher, server: Server) -> None:
    for version, is_latest in (
        ("alpha", True),
        ("1.0.0", True),
        ("1.1.0", True),
        ("1.0.5", False),
        ("2.0.0-beta", True),
        ("1.9", False),
        ("nightly", False),
    ):
        server.clock.advance(60)
        assert official(publisher.publish(server_json(version=version)).json)["isLatest"] is is_latest, version


def test_a_status_does_not_move_the_latest_version(publisher: Publisher, server: Server) -> None:
    for version in ("2.0.0", "nightly", "1.0.0", "alpha"):
        publisher.publish(server_json(version=version))
        server.clock.advance(60)
    for version in ("nightly", "2.0.0", "alpha", "1.0.0"):
        changed = publisher.status(NAME, version, "deprecated", "Use another one.").json
        assert official(changed)["isLatest"] is (version == "2.0.0")
    latest = server.get(f"/v0.1/servers/{quote(NAME, safe='')}/versions/latest", key=None).json
    assert latest["server"]["version"] == "2.0.0"


def test_a_server_chooses_the_latest_versions_again_after_an_upgrade(tmp_path: Path) -> None:
    entries = [Entry({"name": NAME, "description": "x", "version": version}) for version in ("1.0.0", "nightly")]
    with open_server(tmp_path, {}) as server:
        run_sync(server.directory.publish(PUBLISHED, entries))
        with server.database.connection() as connection:
            connection.executescript("""
                UPDATE entry SET visible_id = record.id, preferred_id = record.id
                FROM record WHERE record.name = entry.name AND record.version = 'nightly';
                INSERT INTO unresolved SELECT name FROM entry;
            """)
    with open_server(tmp_path, {}) as server:
        latest = server.get(f"/v0.1/servers/{quote(NAME, safe='')}/versions/latest", key=None).json
        assert latest["server"]["version"] == "1.0.0"


def test_an_invalid_document_is_rejected_with_the_path_of_each_error(publisher: Publisher) -> None:
    package = {"registryType": "npm", "identifier": "a b", "version": "^1.0.0", "transport": {"type": "stdi"}}
    response = publisher.publish(server_json(version="latest", packages=[package], registry_name="x"))
    assert response.status == 422
    assert [location for location, _ in problems(response)] == [
        "body.version",
        "body.packages[0].identifier",
        "body.packages[0].version",
        "body.packages[0].transport.type",
        "body.server",
    ]
    assert response.json["detail"].startswith("version: must be one version such as 1.0.2, not a range")
    assert publisher.log() == [("publish", NAME, "latest", "invalid_server")]


def test_the_validation_endpoint_needs_no_token(server: Server) -> None:
    valid = server.request("POST", "/v0/validate", key=None, body=json.dumps(server_json()).encode())
    assert valid.json == {"valid": True, "issues": []}
    invalid = server.request("POST", "/v0/validate", key=None, body=json.dumps(server_json(version="1.x")).encode())
    assert invalid.status == 200
    ((issue),) = invalid.json["issues"]
    assert (invalid.json["valid"], issue["path"], issue["severity"]) == (False, "version", "error")


def test_publishers_cannot_set_metadata_of_the_registry(publisher: Publisher, server: Server) -> None:
    meta = {OFFICIAL: {"isLatest": True, "status": "deleted"}, PUBLISHER: {"tool": "ci"}, "a/b": {}}
    response = publisher.publish({"name": NAME, "description": "x", "version": "1.0.0", "_meta": meta})
    assert response.json["server"]["_meta"] == {PUBLISHER: {"tool": "ci"}}
    assert official(response.json)["status"] == "active"
    assert server.get(f"/api/open/v1/entries/{mcp_id_of(NAME)}").json["official"] is False
    rejected = publisher.publish({**server_json(version="1.1.0"), "_meta": {PUBLISHER: {"x": "y" * 4_096}}})
    assert problems(rejected)[0][0] == f"body._meta.{PUBLISHER}"


def test_an_upstream_does_not_replace_a_published_entry(publisher: Publisher, server: Server) -> None:
    publisher.publish(server_json())
    upstream = Entry({"name": NAME, "description": "Hijacked.", "version": "9.9.9"}, {OFFICIAL: {"isLatest": True}})
    run_sync(server.directory.publish("official", [upstream]))
    gone = Entry({"name": NAME, "description": "Hijacked.", "version": "1.0.0"}, {OFFICIAL: {"status": "deleted"}})
    run_sync(server.directory.publish("official", [gone]))
    latest = server.get(f"/v0/servers/{quote(NAME, safe='')}/versions/latest", key=None).json
    assert latest["server"] == server_json()
    publisher.status(NAME, None, "deleted")
    server.clock.advance(1)
    assert server.get(f"/api/open/v1/entries/{mcp_id_of(NAME)}").status == 404


MALFORMED = [
    (b"", 400, "parse_error"),
    (b"{", 400, "parse_error"),
    (b"\xff{}", 400, "parse_error"),
    (b'{"name":"a/b","name":"io.acme/x"}', 400, "parse_error"),
    (b"[" * 70 + b"]" * 70, 400, "parse_error"),
    (b'"x"', 422, "invalid_server"),
    (b"null", 422, "invalid_server"),
    (json.dumps({"name": NAME, "x": "y" * 65_536}).encode(), 413, "too_large"),
]


def test_a_malformed_body_is_rejected(publisher: Publisher, subtests: pytest.Subtests) -> None:
    for body, status, title in MALFORMED:
        with subtests.test(body=body[:20]):
            response = publisher.publish(body)
            assert (response.status, response.json["title"]) == (status, title)


def test_another_content_type_is_rejected(publisher: Publisher) -> None:
    response = publisher.publish(server_json(), headers={"Content-Type": "text/plain"})
    assert (response.status, response.json["title"]) == (415, "unsupported_media_type")
    assert publisher.publish(server_json(), headers={"Content-Encoding": "gzip"}).status == 415


@pytest.mark.registry("public", True)
def test_published_entries_are_curated(publisher: Publisher, server: Server) -> None:
    publisher.publish(server_json())
    names = [each["server"]["name"] for each in server.get("/v0/servers", key=None).json["servers"]]
    assert NAME in names


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


INVALID_CHANGES = [
    ({}, "body.status", "is required."),
    ({"status": "gone"}, "body.status", "must be one of 'active', 'deprecated', 'deleted'."),
    ({"status": "deleted", "statusMessage": "x" * 501}, "body.statusMessage", "must have 0 to 500 characters"),
    ({"status": "deleted", "statusMessage": "\x1b[2J"}, "body.statusMessage", "must not contain control"),
    ({"status": "active", "statusMessage": "x"}, "body.statusMessage", "must be absent for the status 'active'."),
    ({"status": "deleted", "alternativeUrl": "x"}, "body.server", "unknown member 'alternativeUrl'"),
    ([], "body", "must be an object, not an array."),
]


def test_an_invalid_status_change_is_rejected(publisher: Publisher, subtests: pytest.Subtests) -> None:
    publisher.publish(server_json())
    for body, location, message in INVALID_CHANGES:
        with subtests.test(str(body)[:40]):
            response = publisher.send("PATCH", f"/v0.1/servers/{quote(NAME, safe='')}/versions/1.0.0/status", body)
            assert response.status == 422
            ((path, text),) = problems(response)
            assert path == location
            assert text.startswith(message)


def test_a_status_change_that_changes_nothing_is_rejected(publisher: Publisher) -> None:
    publisher.publish(server_json())
    assert publisher.status(NAME, "1.0.0", "active").json["title"] == "unchanged"
    assert publisher.status(NAME, "2.0.0", "deleted").status == 404
    path = f"/v0/servers/{quote(NAME, safe='')}/versions/2.0.0/status"
    assert publisher.send("PATCH", path, {"status": "deleted"}).status == 404
    assert publisher.send("PATCH", "/v0/servers/io.acme%2Fnone/status", {"status": "deleted"}).status == 404

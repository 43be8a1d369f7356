"""Publishing over the registry API, with the requests of the official publisher and hostile ones."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest
from attrs import frozen

from directory_server.domain.entries import OFFICIAL, PUBLISHER, Entry, mcp_id_of
from directory_server.domain.publishers import PublisherToken
from directory_server.domain.server_json import SCHEMAS
from directory_server.run_sync import run_sync

from .conftest import MAIL, Response, Server, entry

NAME = "io.acme/weather"

GO = {"User-Agent": "Go-http-client/1.1", "Accept-Encoding": "gzip"}
"""Headers of Go's HTTP client, in which the official publisher is written."""


def server_json(name: str = NAME, version: str = "1.0.0", **members: Any) -> dict[str, Any]:
    return {"$schema": SCHEMAS[0], "name": name, "description": "Forecasts.", "version": version, **members}


@frozen
class Publisher:
    """A publisher with a token, who sends what `mcp-publisher` sends."""

    server: Server
    token: PublisherToken
    secret: str

    def send(self, method: str, path: str, body: Any = None, *, secret: str | None = None, **options: Any) -> Response:
        headers = {**GO, "Authorization": f"Bearer {self.secret if secret is None else secret}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        encoded = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        headers |= options.pop("headers", {})
        return self.server.request(method, path, key=None, headers=headers, body=encoded, **options)

    def publish(self, server: Any, **options: Any) -> Response:
        """Send what `mcp-publisher publish` sends."""
        return self.send("POST", "/v0/publish", server, **options)

    def status(self, name: str, version: str | None, status: str, message: str | None = None) -> Response:
        """Send what `mcp-publisher status` sends: a look-up, then the change."""
        tail = "/versions" if version is None else f"/versions/{quote(version, safe='')}"
        path = f"/v0/servers/{quote(name, safe='')}"
        known = self.send("GET", f"{path}{tail}?include_deleted=true")
        if known.status != 200:
            return known
        body = {"status": status} | ({} if message is None else {"statusMessage": message})
        return self.send("PATCH", f"{path}/status" if version is None else f"{path}{tail}/status", body)

    def log(self) -> list[tuple[str, str, str, str]]:
        found = run_sync(self.server.publication_log.newest())
        return [(each.action, each.name, each.version, each.outcome) for _, each in found]


@pytest.fixture
def publisher(server: Server) -> Publisher:
    return new_publisher(server, "io.acme/*")


def new_publisher(server: Server, *namespaces: str, expires_at: float | None = None) -> Publisher:
    token, secret = run_sync(server.publishers.create("ci", namespaces, expires_at=expires_at))
    return Publisher(server, token, secret)


def problems(response: Response) -> list[tuple[str, str]]:
    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.json["status"] == response.status
    return [(each["location"], each["message"]) for each in response.json["errors"]]


def official(item: Any) -> Any:
    return item["_meta"][OFFICIAL]


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


def test_login_of_the_official_publisher_returns_the_same_token(server: Server) -> None:
    publisher = new_publisher(server, "io.acme/*", expires_at=1_800_000_600.0)
    body = {"github_token": publisher.secret}
    response = server.request(
        "POST",
        "/v0/auth/github-at",
        key=None,
        headers={**GO, "Content-Type": "application/json", "Accept": "application/json"},
        body=json.dumps(body).encode(),
    )
    assert response.status == 200
    assert response.json == {"registry_token": publisher.secret, "expires_at": 1_800_000_600}
    assert response.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("body", [{"github_token": "ghp_" + "a" * 36}, {"github_token": "mcpp_" + "a" * 38}])
def test_login_with_another_token_is_rejected_without_repeating_it(server: Server, body: Any) -> None:
    response = server.request("POST", "/v0.1/auth/github-at", key=None, body=json.dumps(body).encode())
    assert response.status == 401
    assert body["github_token"].encode() not in response.body
    assert response.json["detail"].startswith("A valid publisher token is required.")


@pytest.mark.parametrize("method", ["none", "dns", "http", "github-oidc", "oidc"])
def test_other_logins_say_which_one_works(server: Server, method: str) -> None:
    response = server.request("POST", f"/v0/auth/{method}", key=None, body=b"{}")
    assert response.status == 404
    assert "mcp-publisher login github --token" in response.json["detail"]


def test_a_version_is_immutable(publisher: Publisher, server: Server) -> None:
    assert publisher.publish(server_json()).status == 200
    for again in (server_json(), server_json(description="Other.")):
        response = publisher.publish(again)
        assert response.status == 400
        assert response.json["title"] == "version_exists"
    assert server.get(f"/v0/servers/{quote(NAME, safe='')}/versions/1.0.0", key=None).json["server"] == server_json()
    assert [outcome for *_, outcome in publisher.log()] == ["version_exists", "version_exists", "done"]


def test_the_latest_version_is_the_highest(publisher: Publisher) -> None:
    for version, is_latest in (
        ("1.0.0", True),
        ("1.1.0", True),
        ("1.0.5", False),
        ("2.0.0-beta", True),
        ("1.9", False),
    ):
        assert (
            official(publisher.publish(server_json(version=version)).json)["isLatest"] is is_latest or version == "1.9"
        )


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


@pytest.mark.parametrize(
    "name",
    [
        *("io.other/weather", "io.Acme/weather", "IO.ACME/weather", "io.acme.evil/weather", "io.acmee/weather"),
        *(
            "io.acme/../other/x",
            "io.acme/x/y",
            "io.acme/weather\n",
            "io.\u0430cme/weather",
            "io.acme/\u0445",
            "io.acme/..",
        ),
        *(
            "io.acme\\weather",
            "io.acme%2Fweather",
            "io.acme/",
            "io.acme",
            "io.acme/*",
            "io.acme/x\0",
            "io.acme/\u200bx",
        ),
    ],
)
def test_other_names_are_rejected(publisher: Publisher, server: Server, name: str) -> None:
    response = publisher.publish(server_json(name))
    assert response.status == 403
    assert response.json["title"] == "forbidden_namespace"
    assert "It may publish: io.acme/*." in response.json["detail"]
    assert run_sync(server.directory._store.published(name)) == []
    ((action, _, version, outcome),) = publisher.log()
    assert (action, version, outcome) == ("publish", "1.0.0", "forbidden_namespace")


@pytest.mark.parametrize(
    "path",
    [
        "/v0/servers/io.github.example%2Fmail/versions/1.0.0/status",
        "/v0/servers/io.github.example/mail/versions/1.0.0/status",
        "/v0/servers/io.acme%2F..%2F..%2Fio.github.example%2Fmail/status",
        "/v0/servers/io.acme/../io.github.example/mail/status",
        "/v0.1/servers/IO.GITHUB.EXAMPLE%2FMAIL/status",
        "/v0.1/servers/io.acme%252Fweather/status",
        "/v0.1/servers/io.acme%2Fweather%00/status",
        "/v0.1/servers/io.acme%2F%D1%85/status",
    ],
)
def test_the_status_of_other_names_cannot_be_changed(publisher: Publisher, server: Server, path: str) -> None:
    assert publisher.send("PATCH", path, {"status": "deleted"}).status in (403, 404)
    server.clock.advance(1)
    assert server.get(f"/api/open/v1/entries/{mcp_id_of(MAIL.name)}").json["status"] == "active"


def test_entries_of_other_sources_in_the_namespace_are_not_changed(publisher: Publisher, server: Server) -> None:
    server.publish(entry("io.acme/local"))
    assert publisher.status("io.acme/local", "1.0.0", "deleted").status == 404
    assert publisher.publish(server_json("io.acme/local", "9.0.0")).status == 200
    # The operator's own entry takes precedence.
    assert server.get("/v0/servers/io.acme%2Flocal/versions/latest", key=None).json["server"]["version"] == "1.0.0"


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


def test_unknown_tokens_are_rejected_and_throttled(publisher: Publisher, server: Server) -> None:
    run_sync(server.publishers.revoke(publisher.token.id))
    expired = new_publisher(server, "io.acme/*", expires_at=1_800_000_001.0)
    server.clock.advance(2)
    wrong = ["", "mcpp_", "mcpp_" + "a" * 38, server.key, publisher.secret, expired.secret, expired.secret.upper()]
    for secret in wrong:
        response = publisher.publish(server_json(), secret=secret)
        assert (response.status, response.json["title"]) == (401, "unauthorized")
        assert response.headers["WWW-Authenticate"] == 'Bearer realm="MCP directory"'
    statuses = [publisher.publish(server_json(), secret="x").status for _ in range(30)]
    assert statuses[-1] == 429
    assert publisher.publish(server_json(), secret="x", address="192.0.2.7").status == 401
    # A valid token is accepted whatever others behind its address do.
    assert new_publisher(server, "io.acme/*").publish(server_json()).status == 200
    assert run_sync(server.publication_log.newest())[0][1].outcome == "done"


def test_requests_of_a_token_are_limited(publisher: Publisher, server: Server) -> None:
    statuses = [publisher.publish({}).status for _ in range(31)]
    assert statuses == [422] * 30 + [429]
    assert publisher.send("GET", "/v0/servers").status == 429
    assert new_publisher(server, "io.acme/*").publish(server_json()).status == 200
    server.clock.advance(2)
    assert publisher.publish({}).status == 422


def test_names_of_a_token_are_limited(publisher: Publisher) -> None:
    responses = [publisher.publish(server_json(f"io.acme/n{number}")) for number in range(21)]
    assert [each.status for each in responses] == [200] * 20 + [400]
    assert responses[-1].json["title"] == "publish_limit"


def test_a_token_in_the_url_is_rejected(publisher: Publisher) -> None:
    response = publisher.send("POST", f"/v0/publish?token={publisher.secret}", server_json())
    assert (response.status, response.json["title"]) == (400, "key_in_url")


@pytest.mark.parametrize(
    ("body", "status", "title"),
    [
        (b"", 400, "parse_error"),
        (b"{", 400, "parse_error"),
        (b"\xff{}", 400, "parse_error"),
        (b'{"name":"a/b","name":"io.acme/x"}', 400, "parse_error"),
        (b"[" * 70 + b"]" * 70, 400, "parse_error"),
        (b'"x"', 422, "invalid_server"),
        (b"null", 422, "invalid_server"),
        (json.dumps({"name": NAME, "x": "y" * 65_536}).encode(), 413, "too_large"),
    ],
)
def test_a_malformed_body_is_rejected(publisher: Publisher, body: bytes, status: int, title: str) -> None:
    response = publisher.publish(body)
    assert (response.status, response.json["title"]) == (status, title)


def test_another_content_type_is_rejected(publisher: Publisher) -> None:
    response = publisher.publish(server_json(), headers={"Content-Type": "text/plain"})
    assert (response.status, response.json["title"]) == (415, "unsupported_media_type")
    assert publisher.publish(server_json(), headers={"Content-Encoding": "gzip"}).status == 415


@pytest.mark.registry("off", False)
def test_publishers_read_with_their_token_in_every_mode(publisher: Publisher, server: Server) -> None:
    publisher.publish(server_json())
    assert server.get("/v0/servers", key=None).status == 404
    response = publisher.send("GET", "/v0/servers")
    assert response.status == 200
    assert response.headers["Cache-Control"].startswith("private")
    assert publisher.status(NAME, "1.0.0", "deleted").status == 200
    assert publisher.send("GET", "/v0/servers", secret="mcpp_" + "a" * 38).status == 404


@pytest.mark.registry("public", True)
def test_published_entries_are_curated(publisher: Publisher, server: Server) -> None:
    publisher.publish(server_json())
    names = [each["server"]["name"] for each in server.get("/v0/servers", key=None).json["servers"]]
    assert NAME in names


@pytest.mark.parametrize("server", [{"publish": False}], indirect=True)
def test_publishing_is_off_unless_it_is_enabled(publisher: Publisher) -> None:
    assert publisher.publish(server_json()).status == 404
    assert publisher.send("POST", "/v0/validate", server_json()).status == 404
    assert publisher.send("POST", "/v0/auth/github-at", {"github_token": publisher.secret}).status == 404
    assert publisher.send("PATCH", "/v0/servers/io.acme%2Fx/status", {"status": "deleted"}).status == 404
    assert publisher.log() == []


def test_the_log_has_the_network_and_no_secret(publisher: Publisher) -> None:
    publisher.publish(server_json(), address="192.0.2.77")
    publisher.publish(server_json(publisher.secret), address="2001:db8:1:2::3")
    (_, second), (_, first) = run_sync(publisher.server.publication_log.newest())
    assert (first.network, first.label, first.token_id) == ("192.0.2.0/24", "ci", publisher.token.id)
    assert second.network == "2001:db8:1::/48"
    assert publisher.secret not in second.name


def test_old_records_of_the_log_are_deleted(publisher: Publisher, server: Server) -> None:
    publisher.publish(server_json())
    server.clock.advance(31_536_000.0 - 1)
    run_sync(server.publishing.forget())
    assert len(publisher.log()) == 1
    server.clock.advance(1)
    run_sync(server.publishing.forget())
    assert publisher.log() == []

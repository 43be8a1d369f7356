"""Tokens of publishers: login, namespaces and limits."""

from __future__ import annotations

import json

import pytest

from directory_server.domain.entries import mcp_id_of
from directory_server.runtime.run_sync import run_sync

from ...web.conftest import MAIL, Server, entry
from .conftest import GO, NAME, Publisher, new_publisher, server_json


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


@pytest.mark.parametrize("token", ["ghp_" + "a" * 36, "mcpp_" + "a" * 38])
def test_login_with_another_token_is_rejected_without_repeating_it(server: Server, token: str) -> None:
    body = json.dumps({"github_token": token}).encode()
    response = server.request("POST", "/v0.1/auth/github-at", key=None, body=body)
    assert response.status == 401
    assert token.encode() not in response.body
    assert response.json["detail"].startswith("A valid publisher token is required.")


@pytest.mark.parametrize("method", ["none", "dns", "http", "github-oidc", "oidc"])
def test_other_logins_say_which_one_works(server: Server, method: str) -> None:
    response = server.request("POST", f"/v0/auth/{method}", key=None, body=b"{}")
    assert response.status == 404
    assert "mcp-publisher login github --token" in response.json["detail"]


OTHER_NAMES = [
    *("io.other/weather", "io.Acme/weather", "IO.ACME/weather", "io.acme.evil/weather", "io.acmee/weather"),
    *("io.acme/../other/x", "io.acme/x/y", "io.acme//x", "io.acme/-x", "io.acme/x-", " io.acme/x", "io.acme/weather\n"),
    *("io.\u0430cme/weather", "io.acme/\u0445", "io.acme/..", "io.acme\\weather", "io.acme%2Fweather", "io.acme/"),
    *("io.acme", "io.acme/*", "io.acme/x\0", "io.acme/\u200bx"),
]


def test_other_names_are_rejected(publisher: Publisher, server: Server) -> None:
    for name in OTHER_NAMES:
        response = publisher.publish(server_json(name))
        assert (response.status, response.json["title"]) == (403, "forbidden_namespace"), name
        assert "It may publish: io.acme/*." in response.json["detail"]
        assert run_sync(server.directory._store.published(name)) == [], name
        action, _, version, outcome = publisher.log()[0]
        assert (action, version, outcome) == ("publish", "1.0.0", "forbidden_namespace")


@pytest.mark.parametrize(
    ("pattern", "name", "spelling"),
    [
        ("io.github.Acme/*", "io.github.acme/Tool", "io.github.Acme/Tool"),
        ("io.github.acme/*", "io.GitHub.ACME/tool", "io.github.acme/tool"),
        ("io.acme/Tool", "io.acme/tool", "io.acme/Tool"),
        ("io.acme.*/*", "io.ACME.eu/tool", "io.acme.eu/tool"),
        ("io.github.acme/*", "io.github.acme2/tool", ""),
        ("io.github.acme/*", "io.github.ACME/", ""),
        ("io.acme/tool", "io.acme/tool2", ""),
        ("io.acme/*", "io.other/tool", ""),
    ],
)
def test_an_error_names_the_letter_case_if_only_that_differs(
    server: Server, pattern: str, name: str, spelling: str
) -> None:
    publisher = new_publisher(server, pattern)
    assert publisher.token.spelling(name) == spelling
    response = publisher.publish(server_json(name))
    if spelling:
        assert (response.status, response.json["title"]) == (403, "forbidden_namespace")
        assert response.json["detail"].endswith(f"Letter case counts: write {spelling!r}.")
        assert publisher.publish(server_json(spelling)).status == 200
    else:
        assert "Letter case" not in response.body.decode()


def test_the_status_of_other_names_cannot_be_changed(publisher: Publisher, server: Server) -> None:
    for path in (
        "/v0/servers/io.github.example%2Fmail/versions/1.0.0/status",
        "/v0/servers/io.github.example/mail/versions/1.0.0/status",
        "/v0/servers/io.acme%2F..%2F..%2Fio.github.example%2Fmail/status",
        "/v0/servers/io.acme/../io.github.example/mail/status",
        "/v0.1/servers/IO.GITHUB.EXAMPLE%2FMAIL/status",
        "/v0.1/servers/io.acme%252Fweather/status",
        "/v0.1/servers/io.acme%2Fweather%00/status",
        "/v0.1/servers/io.acme%2F%D1%85/status",
    ):
        assert publisher.send("PATCH", path, {"status": "deleted"}).status in (403, 404), path
    server.clock.advance(1)
    assert server.get(f"/api/open/v1/entries/{mcp_id_of(MAIL.name)}").json["status"] == "active"


def test_entries_of_other_sources_in_the_namespace_are_not_changed(publisher: Publisher, server: Server) -> None:
    server.publish(entry("io.acme/local"))
    assert publisher.status("io.acme/local", "1.0.0", "deleted").status == 404
    assert publisher.publish(server_json("io.acme/local", "9.0.0")).status == 200
    # The operator's own entry takes precedence.
    assert server.get("/v0/servers/io.acme%2Flocal/versions/latest", key=None).json["server"]["version"] == "1.0.0"


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


@pytest.mark.registry("off", False)
def test_publishers_read_with_their_token_in_every_mode(publisher: Publisher, server: Server) -> None:
    publisher.publish(server_json())
    assert server.get("/v0/servers", key=None).status == 404
    response = publisher.send("GET", "/v0/servers")
    assert response.status == 200
    assert response.headers["Cache-Control"].startswith("private")
    assert publisher.status(NAME, "1.0.0", "deleted").status == 200
    assert publisher.send("GET", "/v0/servers", secret="mcpp_" + "a" * 38).status == 404


@pytest.mark.parametrize("server", [{"publish.enabled": False}], indirect=True)
def test_publishing_is_off_unless_it_is_enabled(publisher: Publisher) -> None:
    assert publisher.publish(server_json()).status == 404
    assert publisher.send("POST", "/v0/validate", server_json()).status == 404
    assert publisher.send("GET", "/v0/health").json == {"status": "ok"}
    assert publisher.send("POST", "/v0/auth/github-at", {"github_token": publisher.secret}).status == 404
    assert publisher.send("PATCH", "/v0/servers/io.acme%2Fx/status", {"status": "deleted"}).status == 404
    assert publisher.log() == []

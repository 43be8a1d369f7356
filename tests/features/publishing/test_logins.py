"""Logins without a token: tokens of issuers, and proofs of a domain. Requests are those of `mcp-publisher`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from directory_server.domain.entries import mcp_id_of
from directory_server.domain.namespaces import NamespaceProof
from directory_server.features.publishing.proofs import NamespaceProofs
from directory_server.features.publishing.tokens import LOGIN_LIFETIME, WINDOW, permitted
from directory_server.runtime.run_sync import run_sync

from ...issuers.signing import claims_of, signed
from ...web.conftest import Response, Server, entry
from .conftest import GO, Publisher, server_json
from .fake_logins import GITHUB, GITLAB, DomainKey, ed25519, p384

URL = "https://directory.example"

ALL = {
    "web.url": URL,
    "publish.github_namespaces": ("*",),
    "publish.dns_namespaces": ("*",),
    "publish.http_namespaces": ("*",),
    "publish.oidc_issuer": GITLAB,
    "publish.oidc_claims": ("project_path=acme/servers", "ref_protected=true"),
    "publish.oidc_namespaces": ("io.acme/*", "io.other/tool"),
}

with_all = pytest.mark.parametrize("server", [ALL], indirect=True)


def log_in(server: Server, method: str, body: Any, **options: Any) -> Response:
    headers = {**GO, "Content-Type": "application/json", "Accept": "application/json"}
    encoded = json.dumps(body).encode()
    return server.request("POST", f"/v0/auth/{method}", key=None, headers=headers, body=encoded, **options)


def github(server: Server, *, audience: str = URL, owner: Any = "octo-org", **claims: Any) -> dict[str, str]:
    now = server.clock.seconds()
    event = {"event_name": "push", "repository": "octo-org/tool", "ref": "refs/heads/main", **claims}
    made = claims_of(GITHUB, now, aud=audience, sub="repo:octo-org/tool:ref:refs/heads/main", **event)
    return {"oidc_token": signed(server.logins.issuers.key, {**made, "repository_owner": owner})}


def gitlab(server: Server, **claims: Any) -> dict[str, str]:
    made = claims_of(GITLAB, server.clock.seconds(), aud=URL, project_path="acme/servers", ref_protected=True)
    return {"oidc_token": signed(server.logins.issuers.key, {**made, **claims})}


def publisher_of(server: Server, response: Response) -> Publisher:
    assert response.status == 200, response.body
    secret = response.json["registry_token"]
    token = run_sync(server.publishers.find(secret))
    assert token is not None
    return Publisher(server, token, secret)


def proofs(server: Server, *namespaces: str) -> list[NamespaceProof]:
    found = run_sync(NamespaceProofs(server.application.storage.tables).of(namespaces))
    return [proof for namespace in namespaces for proof in found.get(namespace, ())]


@with_all
def test_a_build_at_github_publishes_in_the_namespace_of_its_owner(server: Server) -> None:
    response = log_in(server, "github-oidc", github(server))
    now = server.clock.seconds()
    assert response.json["expires_at"] == now + LOGIN_LIFETIME
    assert response.headers["Cache-Control"] == "no-store"
    publisher = publisher_of(server, response)
    assert publisher.publish(server_json("io.github.octo-org/tool")).status == 200
    assert publisher.publish(server_json("io.github.other/tool")).status == 403
    assert publisher.log()[::-1] == [
        ("login: github-oidc", "io.github.octo-org/*", "*", "done"),
        ("publish", "io.github.octo-org/tool", "1.0.0", "done"),
        ("publish", "io.github.other/tool", "1.0.0", "forbidden_namespace"),
    ]
    assert publisher.token.label == "github-oidc: repo:octo-org/tool:ref:refs/heads/main"
    subject = "repo:octo-org/tool:ref:refs/heads/main"
    assert proofs(server, "io.github.octo-org") == [NamespaceProof("io.github.octo-org", "github-oidc", subject, now)]
    server.clock.advance(LOGIN_LIFETIME)
    assert publisher.publish(server_json("io.github.octo-org/tool", "2.0.0")).status == 401


@with_all
def test_a_build_of_another_issuer_publishes_what_the_operator_allows(server: Server) -> None:
    publisher = publisher_of(server, log_in(server, "oidc", gitlab(server)))
    assert publisher.token.namespaces == ("io.acme/*", "io.other/tool")
    assert publisher.publish(server_json()).status == 200
    assert [proof.kind for proof in proofs(server, "io.acme", "io.other")] == ["oidc"]


@with_all
@pytest.mark.parametrize("claims", [{"project_path": "acme/other"}, {"project_path": ["acme/servers"]}])
def test_a_build_without_the_required_claims_is_rejected(server: Server, claims: dict[str, Any]) -> None:
    response = log_in(server, "oidc", gitlab(server, **claims))
    assert (response.status, response.json["title"]) == (401, "invalid_token")
    assert "The claim project_path of the token" in response.json["detail"]
    assert log_in(server, "oidc", gitlab(server, ref_protected="false")).status == 401


EVENTS: dict[str | None, int] = {
    **dict.fromkeys(("push", "release", "schedule", "workflow_dispatch"), 200),
    **dict.fromkeys(("pull_request", "pull_request_target", "issue_comment", "workflow_run", "Push", ""), 401),
    None: 401,
}


@with_all
@pytest.mark.parametrize(("event", "status"), EVENTS.items())
def test_by_default_builds_of_pull_requests_publish_nothing(server: Server, event: str | None, status: int) -> None:
    response = log_in(server, "github-oidc", github(server, event_name=event, ref="refs/heads/main"))
    assert response.status == status
    if status == 401:
        assert "The claim event_name of the token has no value that this server accepts." in response.json["detail"]


BOUND = {**ALL, "publish.github_claims": ("repository=octo-org/tool", "ref=refs/heads/main", "ref=refs/heads/next")}


@pytest.mark.parametrize("server", [BOUND], indirect=True)
@pytest.mark.parametrize(
    ("claims", "status"),
    [
        ({}, 200),
        ({"ref": "refs/heads/next"}, 200),
        ({"repository": "octo-org/other"}, 401),
        ({"repository": "Octo-org/tool"}, 401),
        ({"repository": ["octo-org/tool"]}, 401),
        ({"ref": "refs/heads/feature"}, 401),
        ({"ref": "refs/pull/7/merge"}, 401),
        ({"ref": None}, 401),
        # The default of a claim that the setting does not name stays.
        ({"event_name": "pull_request_target"}, 401),
    ],
)
def test_builds_at_github_are_bound_to_repository_and_branch(
    server: Server, claims: dict[str, Any], status: int
) -> None:
    assert log_in(server, "github-oidc", github(server, **claims)).status == status


@pytest.mark.parametrize(
    "server", [{**ALL, "publish.github_claims": ("event_name=deployment", "event_name=push")}], indirect=True
)
def test_an_operator_chooses_the_events_of_github(server: Server) -> None:
    statuses = [
        log_in(server, "github-oidc", github(server, event_name=event)).status
        for event in ("push", "deployment", "release")
    ]
    assert statuses == [200, 200, 401]


@with_all
@pytest.mark.parametrize("key", [ed25519(), p384()], ids=["ed25519", "p384"])
@pytest.mark.parametrize(
    ("method", "patterns"),
    [("dns", ("com.example.lab/*", "com.example.lab.*/*")), ("http", ("com.example.lab/*",))],
)
def test_a_domain_proves_its_namespace(server: Server, key: DomainKey, method: str, patterns: Any) -> None:
    texts = ["google-site-verification=x", ed25519().text, key.text]
    (server.logins.records if method == "dns" else server.logins.files).texts["lab.example.com"] = texts
    now = server.clock.seconds()
    publisher = publisher_of(server, log_in(server, method, key.login("Lab.Example.com", now)))
    assert publisher.token.namespaces == patterns
    expected = [NamespaceProof("com.example.lab", method, "lab.example.com", now)]  # type: ignore[arg-type]
    assert proofs(server, "com.example.lab") == expected
    assert proofs(server, "com.example.lab.one.two") == (expected if method == "dns" else [])
    assert proofs(server, "com.example", "com.example.labs") == []


@with_all
def test_a_proof_of_a_domain_is_good_for_one_login(server: Server) -> None:
    key, other = ed25519(), p384()
    for domain in ("a.example", "b.example"):
        server.logins.records.texts[domain] = server.logins.files.texts[domain] = [key.text, other.text]
    body = key.login("a.example", server.clock.seconds())
    assert log_in(server, "dns", body).status == 200
    # Neither another method nor another domain with the same key accepts it again, nor another spelling.
    for method, again in [
        ("dns", body),
        ("http", body),
        ("dns", {**body, "domain": "b.example"}),
        ("dns", {**body, "signed_timestamp": body["signed_timestamp"].upper()}),
    ]:
        response = log_in(server, method, again)
        assert (response.status, response.json["detail"]) == (401, "This timestamp was used already. Sign a new one.")
    # ECDSA has more than one signature of a timestamp.
    now = server.clock.seconds()
    assert log_in(server, "dns", other.login("a.example", now)).status == 200
    assert log_in(server, "dns", other.login("a.example", now)).status == 401
    server.clock.advance(1)
    assert log_in(server, "dns", key.login("a.example", server.clock.seconds())).status == 200


@with_all
@pytest.mark.parametrize("difference", [-WINDOW - 1, WINDOW + 1])
def test_a_timestamp_is_near_the_time_of_the_server(server: Server, difference: float) -> None:
    key = ed25519()
    server.logins.records.texts["a.example"] = [key.text]
    response = log_in(server, "dns", key.login("a.example", server.clock.seconds() + difference))
    assert (response.status, response.json["title"]) == (401, "invalid_proof")
    assert "Check the clock." in response.json["detail"]
    assert server.logins.records.asked == []


@pytest.mark.parametrize(
    "server",
    [{**ALL, "publish.github_namespaces": ("io.github.acme/*",), "publish.dns_namespaces": ("com.acme/tool",)}],
    indirect=True,
)
def test_the_operator_limits_the_namespaces_of_logins(server: Server) -> None:
    response = log_in(server, "github-oidc", github(server))
    assert (response.status, response.json["title"]) == (403, "forbidden_namespace")
    assert "io.github.octo-org/*" in response.json["detail"]
    assert log_in(server, "github-oidc", github(server, owner="acme")).status == 200
    key = ed25519()
    server.logins.records.texts["acme.com"] = [key.text]
    publisher = publisher_of(server, log_in(server, "dns", key.login("acme.com", server.clock.seconds())))
    assert publisher.token.namespaces == ("com.acme/tool",)


@with_all
def test_a_proof_is_a_fact_about_what_was_published(server: Server) -> None:
    key = ed25519()
    server.logins.records.texts["acme.com"] = [key.text]
    publisher = publisher_of(server, log_in(server, "dns", key.login("acme.com", server.clock.seconds())))
    assert publisher.publish(server_json("com.acme/tool")).status == 200
    server.publish(entry("com.acme/other", "Not published by its owner."))
    (fact,) = identity(server, "com.acme/tool")
    assert (fact["mark"], fact["source"], fact["detail"]) == ("namespace_proven", "DNS", "com.acme")
    assert fact["date"].startswith("2027-01-15T08:00")
    assert identity(server, "com.acme/other") == []
    # The filter, the words of the entry and the list know it as well.
    found = server.get("/api/open/v1/search?keywords=publisher:verified&fields=server_name").json["data"]
    assert [hit["server_name"] for hit in found] == ["com.acme/tool"]
    assert server.get(f"/api/open/v1/entries/{mcp_id_of('com.acme/tool')}").json["publisher"] == "verified"
    # A change of the status keeps it.
    assert publisher.status("com.acme/tool", "1.0.0", "deprecated").status == 200
    assert server.get(f"/api/open/v1/entries/{mcp_id_of('com.acme/tool')}").json["publisher"] == "verified"


@with_all
def test_what_an_issuer_of_the_operator_says_verifies_no_publisher(server: Server) -> None:
    publisher = publisher_of(server, log_in(server, "oidc", gitlab(server)))
    assert publisher.publish(server_json("io.acme/tool")).status == 200
    assert identity(server, "io.acme/tool") == []
    assert server.get(f"/api/open/v1/entries/{mcp_id_of('io.acme/tool')}").json["publisher"] == "unknown"


def identity(server: Server, name: str) -> list[Any]:
    found: list[Any] = server.get(f"/api/open/v1/entries/{mcp_id_of(name)}").json["identity"]
    return found


@pytest.mark.parametrize(
    ("proven", "allowed", "expected"),
    [
        (["a.b/*"], ["*"], ["a.b/*"]),
        (["a.b/*", "a.b.*/*"], ["a.b.*/*"], ["a.b.*/*"]),
        (["a.b/*", "a.b.*/*"], ["a.b.c/*", "a.b/x", "a.c/*"], ["a.b/x", "a.b.c/*"]),
        (["a.b.c/*", "a.b.c.*/*"], ["a.b.*/*"], ["a.b.c/*", "a.b.c.*/*"]),
        (["a.b/*"], ["a.bc/*", "A.b/*", "a.b.*/*"], []),
        # GitHub tells the owner as its account is spelt.
        (["io.github.Acme/*"], ["io.github.acme/*"], ["io.github.Acme/*"]),
        (["io.github.acme/*"], ["io.GitHub.Acme/tool"], ["io.GitHub.Acme/tool"]),
        (["io.github.acme/*"], ["io.github.acmes/*"], []),
        (["a.b/*"], [], []),
    ],
)
def test_names_that_are_proven_and_allowed_are_permitted(
    proven: list[str], allowed: list[str], expected: list[str]
) -> None:
    assert permitted(proven, allowed) == expected


@pytest.mark.parametrize(
    "server", [{"publish.dns_namespaces": ("*",), "publish.github_namespaces": ("*",)}], indirect=True
)
def test_logins_that_are_off_say_which_one_works(server: Server) -> None:
    # Without an audience, tokens of GitHub for any other directory would be valid here.
    for method in ("github-oidc", "http", "oidc", "none"):
        response = log_in(server, method, {})
        assert response.status == 404
        assert response.json["detail"].endswith("--registry <URL>, or with: login dns.")


@with_all
def test_logins_are_limited_by_address_and_namespace(server: Server) -> None:
    statuses = [
        log_in(server, "github-oidc", github(server), address=f"198.51.{number}.1").status for number in range(31)
    ]
    assert statuses == [200] * 30 + [429]
    assert log_in(server, "github-oidc", github(server, owner="other")).status == 200
    wrong = [log_in(server, "dns", ed25519().login("a.example", server.clock.seconds())).status for _ in range(40)]
    assert (wrong[0], wrong[-1]) == (401, 429)
    assert log_in(server, "dns", {}, address="192.0.2.7").status == 422


@pytest.mark.parametrize("server", [{**ALL, "http.health": "full"}], indirect=True)
def test_health_has_the_state_of_each_issuer(server: Server) -> None:
    new = {"status": "new", "last_success": None}
    assert server.get("/healthz").json["issuers"] == {GITHUB: new, GITLAB: new}
    log_in(server, "github-oidc", github(server))
    server.logins.issuers.error = "It answered 500."
    assert log_in(server, "oidc", gitlab(server)).json["title"] == "issuer_unavailable"
    assert server.get("/healthz").json["issuers"] == {
        GITHUB: {"status": "ok", "last_success": "2027-01-15T08:00:00Z"},
        GITLAB: {"status": "failing", "last_success": None},
    }

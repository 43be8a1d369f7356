"""Forged logins of publishers: no token, no fact, and no server error."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from twisted.internet.defer import Deferred

from directory_server.features.publishing.domain_proofs import MAX_KEYS
from directory_server.features.publishing.login_methods import MAX_PER_CLIENT
from directory_server.runtime.run_sync import run_sync

from ..features.publishing.fake_logins import GITHUB, GITLAB, ed25519, p384
from ..features.publishing.test_logins import ALL, URL, github, gitlab, log_in, proofs, with_all
from ..issuers.signing import claims_of, rsa_key, signed, unsigned
from ..web.conftest import Server
from .test_publish import JSON


def is_untouched(server: Server) -> bool:
    return not run_sync(server.publishers.list()) and not proofs(server, "io.github.octo-org", "example.a", "io.acme")


@with_all
@pytest.mark.parametrize(
    "forge",
    [
        lambda server: unsigned({"alg": "none"}, claims_of(GITHUB, aud=URL, repository_owner="octo-org")),
        lambda server: signed(rsa_key(), claims_of(GITHUB, aud=URL, repository_owner="octo-org")),
        # The audience of all older publishers, which tokens for any other registry have too (CVE-2026-44428).
        lambda server: github(server, audience="mcp-registry")["oidc_token"],
        lambda server: github(server, audience="https://other-directory.example")["oidc_token"],
        lambda server: gitlab(server, repository_owner="octo-org")["oidc_token"],
        lambda server: github(server, exp=1_700_000_000)["oidc_token"],
        lambda server: github(server, nbf=1_900_000_000)["oidc_token"],
        *(
            lambda server, owner=owner: github(server, owner=owner)["oidc_token"]
            for owner in (
                "",
                "../acme",
                "octo-org/*",
                "*",
                "octo.org",
                "octo_org",
                "-x",
                "x" * 101,
                None,
                5,
                ["octo"],
                "é",
            )
        ),
    ],
)
def test_forged_tokens_of_github_are_rejected(server: Server, forge: Any) -> None:
    response = log_in(server, "github-oidc", {"oidc_token": forge(server)})
    assert (response.status, response.json["title"]) == (401, "invalid_token")
    assert is_untouched(server)


@with_all
def test_a_token_of_one_issuer_is_not_one_of_another(server: Server) -> None:
    assert log_in(server, "oidc", github(server)).status == 401
    assert log_in(server, "oidc", {"oidc_token": gitlab(server, iss=f"{GITLAB}/")["oidc_token"]}).status == 401
    assert is_untouched(server)


@with_all
def test_a_token_is_bounded_and_never_repeated(server: Server) -> None:
    response = log_in(server, "github-oidc", {"oidc_token": "x" * 20_000})
    assert (response.status, response.json["title"]) == (422, "invalid_server")
    token = github(server, audience="mcp-registry")["oidc_token"]
    assert token[:40].encode() not in log_in(server, "github-oidc", {"oidc_token": token}).body
    response = server.request("POST", f"/v0/auth/github-oidc?token=mcpp_{'a' * 38}", key=None, body=b"{}")
    assert response.status == 400


@with_all
@pytest.mark.parametrize(
    "texts",
    [
        [],
        ["v=MCPv1; k=ed25519; p="],
        ["v=MCPv1; k=ed25519; p=AAAA"],
        ["v=MCPv1; k=none; p=AAAA"],
        ["v=MCPv1; k=ecdsap384; p=" + "A" * 66],
        # The point is not compressed.
        ["v=MCPv1; k=ecdsap384; p=BAAA" + "A" * 62],
        ["v=MCPv1; k=ed25519; p=" + "A" * 4_000],
        ["v=MCPv1;" + " " * 4_000 + "k=ed25519"],
        [f"v=MCPv1; k=ed25519; p={'A' * 43}="] * 500,
        ["\ufffd\0\u202e"],
    ],
)
def test_hostile_records_of_a_domain_are_rejected(server: Server, texts: list[str]) -> None:
    server.logins.records.texts["a.example"] = texts
    for key in (ed25519(), p384()):
        response = log_in(server, "dns", key.login("a.example", server.clock.seconds()))
        assert (response.status, response.json["title"]) == (401, "invalid_proof")
    assert is_untouched(server)


@with_all
def test_only_the_first_keys_of_a_domain_are_compared(server: Server) -> None:
    key = ed25519()
    server.logins.records.texts["a.example"] = [*[p384().text] * MAX_KEYS, key.text]
    assert log_in(server, "dns", key.login("a.example", server.clock.seconds())).status == 401


@with_all
@pytest.mark.parametrize(
    "domain",
    [
        *("", "com", "localhost", "127.0.0.1", "0x7f.1", "[::1]", "a.example:443", "a.example/x", "user@a.example"),
        *("a..example", "-a.example", "a.example.", "*.example", "ä.example", "a.example\n", "a.example#"),
        "a_b.example",
        *("a" * 64 + ".example", "a." * 120 + "example", "a.example\0", "a.example?x", "169.254.169.254", "1.2.3.4"),
    ],
)
def test_what_is_no_domain_is_not_asked(server: Server, domain: str) -> None:
    key = ed25519()
    for method in ("dns", "http"):
        assert log_in(server, method, key.login(domain, server.clock.seconds())).status == 422
    assert server.logins.records.asked == server.logins.files.asked == []


@with_all
@pytest.mark.parametrize(
    "changes",
    [
        {"timestamp": "now"},
        {"timestamp": "2027-01-15T08:00:00"},
        {"timestamp": "+1800000000"},
        {"timestamp": "2027-13-45T99:99:99Z"},
        {"timestamp": "\u0662027-01-15T08:00:00Z"},
        {"signed_timestamp": ""},
        {"signed_timestamp": "zz" * 64},
        {"signed_timestamp": "00" * 63},
        {"signed_timestamp": "00" * 10_000},
        {"signed_timestamp": "00" * 64},
        {"signed_timestamp": "00" * 96},
        {"signed_timestamp": "ff" * 96},
        {"signed_timestamp": None},
        {"extra": "x"},
    ],
)
def test_hostile_proofs_are_rejected(server: Server, changes: dict[str, Any]) -> None:
    for key in (ed25519(), p384()):
        server.logins.records.texts["a.example"] = [key.text]
        body = {**key.login("a.example", server.clock.seconds()), **changes}
        assert log_in(server, "dns", body).status in (401, 422)
    assert is_untouched(server)


@with_all
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.sampled_from(["github-oidc", "oidc", "dns", "http", "github-at", "none", "x"]),
    JSON
    | st.fixed_dictionaries({"oidc_token": JSON | st.text(st.sampled_from("eyJ.AB="), max_size=60)})
    | st.fixed_dictionaries({"domain": JSON, "timestamp": JSON, "signed_timestamp": JSON}),
)
def test_any_login_is_rejected(server: Server, method: str, body: Any) -> None:
    response = server.request("POST", f"/v0.1/auth/{method}", key=None, body=json.dumps(body).encode())
    assert response.status in (400, 401, 404, 422, 429)
    assert is_untouched(server)
    server.clock.advance(60)


@pytest.mark.parametrize("server", [{**ALL, "http.connections": 20}], indirect=True)
def test_slow_domains_of_one_client_leave_room_for_others(server: Server) -> None:
    key = ed25519()

    async def wait(domain: str) -> list[str]:
        return await Deferred[list[str]]() if domain == "slow.example" else [key.text]

    server.logins.records.waits = wait
    now, opened = server.clock.seconds(), []
    # Connections of an address are limited, too.
    for number in range(MAX_PER_CLIENT):
        body = json.dumps(key.login("slow.example", now)).encode()
        opened.append(server.open("POST", "/v0/auth/dns", key=None, body=body, address=f"192.0.2.{number}"))
    assert log_in(server, "dns", key.login("a.example", now), address="192.0.2.99").status == 503
    assert log_in(server, "dns", key.login("a.example", now), address="198.51.100.1").status == 200
    # The clients leave.
    for connection in opened:
        connection.close()
    server.clock.advance(1)
    assert log_in(server, "dns", key.login("a.example", now + 1), address="192.0.2.99").status == 200

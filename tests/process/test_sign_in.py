"""Sign-in with an issuer in another process, and access tokens in place of API keys."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

from directory_server.features.publishing.server_json import SCHEMAS

from ..responses import Response
from .conftest import MCP, SEARCH, TIMEOUT, Installation, Server, environment, until
from .issuers import (
    VERIFIED,
    FakeIssuer,
    error_of,
    finish,
    new_browser,
    run_issuer,
    run_provider,
    serve_with,
    sign_in,
    start,
)

pytestmark = pytest.mark.process

METADATA = "/.well-known/oauth-protected-resource"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Installation, Server, FakeIssuer]]:
    installation = Installation(tmp_path_factory.mktemp("sign-in"))
    installation.command("quickstart")
    settings = 'operators = ["admins"]\ndomains = ["example.org"]\nrequire = ["groups=staff", "groups=admins"]'
    settings += '\npublish = ["groups=publishers io.acme/*"]\n[publish]\nenabled = true'
    with run_issuer() as issuer, serve_with(installation, issuer, settings=settings) as server:
        yield installation, server, issuer
        log = server.stop()
        assert "s3cret" not in log


@pytest.fixture
def issuer(running: tuple[Installation, Server, FakeIssuer]) -> FakeIssuer:
    running[2].set(claims=VERIFIED, token={}, user_info={}, faults={})
    return running[2]


@pytest.fixture
def server(running: tuple[Installation, Server, FakeIssuer]) -> Server:
    return running[1]


def test_first_sign_in_creates_an_account_and_redirects_to_the_page(server: Server, issuer: FakeIssuer) -> None:
    browser = new_browser()
    assert "Sign in with Fake" in browser.request(server, "/account/sign-in?next=/account/sessions").text
    assert sign_in(browser, server, issuer, "/account/sessions") == "/account/sessions"
    assert "ann@example.org" in browser.request(server, "/account/sessions").text
    assert "This account has no password." in browser.request(server, "/account/password").text
    assert browser.request(server, "/admin").status == 404
    assert browser.create_key(server, server).startswith("mcpd_")


def test_operators_are_members_of_a_group_and_sign_out_leads_to_the_issuer(server: Server, issuer: FakeIssuer) -> None:
    browser = new_browser()
    issuer.set(claims={**VERIFIED, "sub": "root", "email": "root@example.org", "groups": ["admins"]})
    sign_in(browser, server, issuer)
    assert browser.request(server, "/admin").status == 200
    browser.request(server, "/account/keys")
    page = browser.request(server, "/account/sign-out", confirmed="yes")
    assert page.headers["Location"] == "/account/sign-in/fake/sign-out"
    shown = browser.request(server, "/account/sign-in/fake/sign-out").text
    assert f"{issuer.url}/end_session?client_id=directory" in shown
    assert browser.request(server, "/account/keys").status == 303


def test_claims_of_the_userinfo_endpoint_count_where_the_token_has_none(server: Server, issuer: FakeIssuer) -> None:
    issuer.set(claims={"sub": "bob"}, user_info={**VERIFIED, "sub": "bob", "email": "bob@example.org"})
    browser = new_browser()
    assert sign_in(browser, server, issuer) == "/account/keys"
    assert "bob@example.org" in browser.request(server, "/account/keys").text


@pytest.mark.parametrize(
    ("claims", "code"),
    [
        ({**VERIFIED, "email_verified": False}, "email_not_verified"),
        ({**VERIFIED, "email_verified": None}, "email_not_verified"),
        ({**VERIFIED, "email": "ann@evil.example"}, "not_allowed"),
        ({**VERIFIED, "email": "ann@example.org@evil.example"}, "email_not_verified"),
        ({**VERIFIED, "groups": ["guests"]}, "not_allowed"),
        ({**VERIFIED, "groups": {"staff": True}}, "not_allowed"),
        ({**VERIFIED, "email": ["ann@example.org"]}, "email_not_verified"),
    ],
)
def test_rules_of_claims_decide_who_signs_in(
    server: Server, issuer: FakeIssuer, claims: dict[str, object], code: str
) -> None:
    issuer.set(claims={**claims, "sub": "mallory"}, user_info={"sub": "mallory"})
    browser = new_browser()
    page = finish(browser, server, issuer.answer(start(browser, server)))
    assert error_of(browser, server, page) == code
    assert browser.request(server, "/account/keys").status == 303


def test_access_tokens_search_within_the_quota_of_their_subject(server: Server, issuer: FakeIssuer) -> None:
    tokens = [issuer.token(audience, sub="quota") for audience in (server.url, server.url + MCP, server.url + "/")]
    statuses = [server.search("github", tokens[number % 3]).status for number in range(21)]
    assert statuses == [200] * 20 + [401]
    response = server.search("github", tokens[0])
    assert response.json["error"] == "rate_limited"
    assert response.headers["RateLimit-Policy"] == '"hour";q=20;w=3600'
    assert server.search("github", issuer.token(server.url, sub="another")).status == 200


def test_a_revoked_subject_and_a_disabled_account_are_rejected(
    running: tuple[Installation, Server, FakeIssuer], server: Server, issuer: FakeIssuer
) -> None:
    installation = running[0]
    issuer.set(claims={**VERIFIED, "sub": "carl", "email": "carl@example.org"})
    browser = new_browser()
    sign_in(browser, server, issuer)
    token = issuer.token(server.url, sub="carl")
    assert server.search("github", token).status == 200
    installation.command("account", "disable", "carl@example.org")
    assert server.search("github", token).status == 401
    page = finish(browser, server, issuer.answer(start(browser, server)))
    assert error_of(browser, server, page) == "not_allowed"
    installation.command("account", "enable", "carl@example.org")
    assert server.search("github", token).status == 200
    key = next(line.split()[0] for line in installation.command("key", "list").splitlines() if "carl@" in line)
    installation.command("key", "revoke", key)
    assert server.search("github", token).status == 401


def test_responses_without_a_token_lead_to_the_metadata(server: Server, issuer: FakeIssuer) -> None:
    challenge = 'Bearer realm="MCP directory", resource_metadata="{}", scope="mcp-registry:read"'
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    for path, body, resource in ((f"{SEARCH}?keywords=a", None, ""), (MCP, ping, MCP)):
        response = server.request(path, body=body)
        assert response.status == 401
        assert response.headers["WWW-Authenticate"] == challenge.format(server.url + METADATA + resource)
        metadata = server.request(METADATA + resource).json
        assert metadata["resource"] == server.url + resource
        assert metadata["authorization_servers"] == [issuer.url]
        assert metadata["scopes_supported"] == ["mcp-registry:read", "mcp-registry:write"]
    expired = server.search("a", issuer.token(server.url, exp=1))
    assert 'error="invalid_token"' in str(expired.headers["WWW-Authenticate"])
    narrow = server.search("a", issuer.token(server.url, scope="openid"))
    assert (narrow.status, narrow.json["error"]) == (403, "insufficient_scope")
    assert 'error="insufficient_scope"' in str(narrow.headers["WWW-Authenticate"])


def test_the_flow_of_vs_code_leads_from_a_challenge_to_a_token(server: Server, issuer: FakeIssuer) -> None:
    # src/vs/workbench/api/common/extHostMcp.ts (createAuthMetadata) and src/vs/base/common/oauth.ts of VS Code.
    url = server.url + MCP
    hello = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    response = server.request(MCP, body=hello)
    assert response.status == 401
    challenge = dict(re.findall(r'(\w+)="([^"]*)"', str(response.headers["WWW-Authenticate"])))
    metadata = server.request(challenge["resource_metadata"].removeprefix(server.url)).json
    # VS Code stops unless both are equal as URLs.
    assert metadata["resource"] == url
    authorization_server = urlsplit(metadata["authorization_servers"][0])
    inserted = f"/.well-known/oauth-authorization-server{authorization_server.path}"
    with urlopen(f"{authorization_server.scheme}://{authorization_server.netloc}{inserted}", timeout=TIMEOUT) as found:
        assert {"issuer", "authorization_endpoint", "token_endpoint"} <= json.load(found).keys()
    token = issuer.token(metadata["resource"], scope=challenge["scope"])
    assert server.request(MCP, token, body=hello).json["result"] == {}


def publish(server: Server, token: str | None, name: str = "io.acme/tool", version: str = "1.0.0") -> Response:
    body = {"$schema": SCHEMAS[0], "name": name, "description": "A tool.", "version": version}
    return server.request("/v0.1/publish", token, body=body)


def test_access_tokens_publish_in_the_namespaces_of_their_claims(server: Server, issuer: FakeIssuer) -> None:
    token = issuer.token(server.url, sub="bot", scope="mcp-registry:write", groups=["publishers"])
    assert publish(server, token).status == 200
    assert publish(server, token).json["title"] == "version_exists"
    other = publish(server, token, "io.other/tool")
    assert (other.status, other.json["title"]) == (403, "forbidden_namespace")
    assert "It may publish: io.acme/*." in other.json["detail"]
    stranger = publish(server, issuer.token(server.url, sub="x", scope="mcp-registry:write"), version="2.0.0")
    assert (stranger.status, stranger.json["title"]) == (403, "forbidden_namespace")
    # RFC 6750, section 3.1: clients ask their issuer for the scope.
    for rejected, code in ((issuer.token(server.url, groups=["publishers"]), 403), ("ey.ey.ey", 401), (None, 401)):
        response = publish(server, rejected)
        challenge = str(response.headers["WWW-Authenticate"])
        assert response.status == code
        assert f"{server.url}{METADATA}" in challenge
        assert 'scope="mcp-registry:write"' in challenge
        assert ('error="insufficient_scope"' in challenge) == (code == 403)
    # A token that may only write does not read.
    assert server.search("tool", token).status == 403


def test_sdk_client_registers_and_authorizes_itself(server: Server, issuer: FakeIssuer) -> None:
    script = Path(__file__).with_name("sdk_oauth_client.py")
    process = subprocess.run(
        [sys.executable, script, server.url + MCP, "github"],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=2 * TIMEOUT,
    )
    assert process.returncode == 0, process.stderr
    results = json.loads(process.stdout)
    assert results["tools"] == ["search_mcp", "get_mcp_detail"]
    assert results["resource"] == server.url + MCP
    assert results["scope"] == "mcp-registry:read"


def test_a_rotated_key_of_the_issuer_is_fetched(installation: Installation) -> None:
    installation.command("quickstart")
    with run_issuer() as issuer, serve_with(installation, issuer) as server:
        token = issuer.token(server.url)
        issuer.set(rotate=True)
        assert server.search("a", issuer.token(server.url)).status == 200
        assert server.search("a", token).status == 401


def test_sign_ins_are_audited_and_the_health_has_the_issuer(installation: Installation) -> None:
    installation.command("quickstart")
    options = "--set", "audit.enabled=true", "--set", "http.health=full"
    with run_issuer() as issuer, serve_with(installation, issuer, *options) as server:
        assert server.request("/healthz").json["issuers"][issuer.url]["status"] == "new"
        issuer.set(claims=VERIFIED)
        sign_in(new_browser(), server, issuer)
        # A response without a sign-in that has begun is not recorded: anybody can send it.
        assert new_browser().request(server, "/account/sign-in/fake/callback?code=a&state=b").status == 303
        assert server.request("/healthz").json["issuers"][issuer.url]["status"] == "ok"
        records = map(json.loads, installation.command("audit", "export").splitlines())
        [record] = [record for record in records if record["action"].startswith("GET")]
    assert record["action"] == "GET /account/sign-in/{issuer}/callback"
    assert (record["subject"]["name"], record["outcome"]) == ("ann@example.org", "done")


def test_without_passwords_the_link_of_the_command_signs_in(installation: Installation) -> None:
    installation.command("quickstart")
    with run_issuer() as issuer, serve_with(installation, issuer, "--set", "accounts.passwords=false") as server:
        browser = new_browser()
        shown = browser.request(server, "/account/sign-in").text
        assert "Sign in with Fake" in shown
        assert 'type="password"' not in shown
        assert browser.request(server, "/account/register").status == 404
        link = installation.command("account", "add", "--role", "operator", "root@example.org").strip()
        path = "/account/invitation/" + link.rpartition("/")[2]
        assert 'type="password"' not in browser.request(server, path).text
        page = browser.request(server, "/account/sign-in", email="root@example.org", password="x" * 12)
        assert error_of(browser, server, page) == "passwords_off"
        assert browser.request(server, path, send="yes").headers["Location"] == "/admin"
        assert browser.request(server, "/admin").status == 200
        assert browser.request(server, "/account/delete").text.count('type="password"') == 0
        assert browser.request(server, "/account/delete", confirmed="yes").headers["Location"] == "/account/sign-in"


def test_a_person_signs_in_and_out_with_a_server_of_another_project(installation: Installation) -> None:
    installation.command("quickstart")
    with run_provider(sub="ann", **VERIFIED) as provider, serve_with(installation, provider) as server:
        browser = new_browser()
        page = finish(browser, server, provider.answer(start(browser, server), "sub=ann"))
        assert page.headers["Location"] == "/account/keys"
        assert "ann@example.org" in browser.request(server, "/account/keys").text
        page = browser.request(server, "/account/sign-out", confirmed="yes")
        assert f"{provider.url}/oauth2/end_session?" in browser.request(server, page.headers["Location"] or "").text


def test_a_person_of_another_issuer_needs_an_operator(installation: Installation) -> None:
    installation.command("quickstart")
    with run_issuer() as issuer:
        github = f"http://127.0.0.1:{issuer.port}"
        other = f"""
        operators = ["admins"]
        [[sign_in.issuer]]
        name = "github"
        kind = "github"
        url = "{github}"
        client_id = "directory"
        renew = "1s"
        """
        with serve_with(installation, issuer, settings=other) as server:
            issuer.set(claims={**VERIFIED, "groups": ["admins"]})
            issuer.set(emails=[{"email": "Ann@example.org", "primary": True, "verified": True}])
            first, second = new_browser(), new_browser()
            sign_in(first, server, issuer)
            page = finish(second, server, issuer.answer(start(second, server, "github")))
            assert error_of(second, server, page) == "linked_elsewhere"
            installation.command("account", "link", "ann@example.org", github)
            page = finish(second, server, issuer.answer(start(second, server, "github")))
            assert page.headers["Location"] == "/account/keys"
            # The role is that of the first issuer. So much for the second, which has to be renewed after a second.
            assert first.request(server, "/admin").status == 200
            assert second.request(server, "/admin").status in (303, 404)
            until(lambda: second.request(server, "/account/keys").status == 303, "the second session has ended")
            assert first.request(server, "/admin").status == 200


def test_github_confirms_a_person_by_its_api(installation: Installation) -> None:
    installation.command("quickstart")
    with run_issuer() as issuer:
        table = f"""
        [[sign_in.issuer]]
        name = "github"
        kind = "github"
        url = "http://127.0.0.1:{issuer.port}"
        client_id = "directory"
        scopes = ["read:user", "user:email"]
        """
        with serve_with(installation, issuer, settings=table) as server:
            for verified, location in ((False, "/account/sign-in"), (True, "/account/keys")):
                other = {"email": "other@example.org", "primary": False, "verified": True}
                issuer.set(emails=[other, {"email": "Ann@example.org", "primary": True, "verified": verified}])
                browser = new_browser()
                page = finish(browser, server, issuer.answer(start(browser, server, "github")))
                assert (page.headers["Location"] or "").partition("?")[0] == location
            assert "ann@example.org" in browser.request(server, "/account/keys").text
            assert browser.request(server, "/account/sign-out", confirmed="yes").headers["Location"] == (
                "/account/sign-in"
            )

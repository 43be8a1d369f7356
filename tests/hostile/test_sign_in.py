"""Attacks on sign-ins with issuers, and on access tokens in place of API keys."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import pytest

from directory_server.domain.errors import InsufficientScope, InvalidToken
from directory_server.domain.keys import ApiKey
from directory_server.features.sign_in.settings import IssuerConfig
from directory_server.features.sign_in.tokens import SubjectTokens, TokenIssuer
from directory_server.runtime.run_sync import run_sync

from ..issuers.signing import AUDIENCE, URL, claims_of, signed
from ..issuers.test_issuer import ONE, Setup
from ..process.browser import Browser
from ..process.conftest import MCP, Installation, Server
from ..process.issuers import (
    VERIFIED,
    FakeIssuer,
    error_of,
    finish,
    new_browser,
    run_issuer,
    serve_with,
    sign_in,
    start,
)
from .test_tokens import FORGED

CALLBACK = "/account/sign-in/fake/callback"

SCOPE = "mcp-registry:read"


def shortened(value: object) -> str:
    """Return the id of a parameter."""
    return str(value)[:60]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, FakeIssuer]]:
    installation = Installation(tmp_path_factory.mktemp("attacks"))
    installation.command("quickstart")
    with run_issuer() as issuer:
        other = f"""
        [[sign_in.issuer]]
        name = "other"
        url = "{issuer.url}/other"
        client_id = "directory"
        """
        with serve_with(installation, issuer, settings=other) as server:
            yield server, issuer
            log = server.stop()
            for secret in ("Traceback", "s3cret", "eyJ", "code="):
                assert secret not in log


@pytest.fixture
def issuer(running: tuple[Server, FakeIssuer]) -> FakeIssuer:
    running[1].set(claims=VERIFIED, token={}, user_info={}, faults={})
    return running[1]


@pytest.fixture
def server(running: tuple[Server, FakeIssuer]) -> Server:
    return running[0]


@pytest.fixture
def browser() -> Browser:
    return new_browser()


def changed(url: str, **values: str | None) -> str:
    """Return `url` with other values in its query string; None removes one."""
    query = {**dict(parse_qsl(urlsplit(url).query)), **values}
    return f"{url.partition('?')[0]}?{urlencode({name: text for name, text in query.items() if text is not None})}"


@pytest.mark.process
@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "of another sign-in"},
        {"nonce": None},
        {"nonce": 7},
        {"aud": "another-client"},
        {"aud": ["directory", "another-client"]},
        {"azp": "another-client"},
        {"iss": "https://attacker.example"},
        {"exp": 1},
        {"iat": 9_999_999_999},
        {"sub": None},
        {"sub": "x" * 1_001},
    ],
    ids=shortened,
)
def test_id_tokens_of_others_are_rejected(
    server: Server, issuer: FakeIssuer, browser: Browser, claims: dict[str, Any]
) -> None:
    issuer.set(claims={**VERIFIED, **claims})
    page = finish(browser, server, issuer.answer(start(browser, server)))
    assert error_of(browser, server, page) == "issuer_failed"
    assert browser.request(server, "/account/keys").status == 303


@pytest.mark.process
@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"state": "forged"}, "sign_in_expired"),
        ({"state": None}, "sign_in_expired"),
        ({"state": "x" * 3_000}, "sign_in_expired"),
        ({"iss": "https://attacker.example"}, "issuer_failed"),
        ({"iss": None}, "issuer_failed"),
        ({"code": None}, "issuer_failed"),
        ({"code": ""}, "issuer_failed"),
        ({"code": "guessed"}, "issuer_failed"),
        ({"code": "x" * 4_000}, "issuer_failed"),
        ({"code": None, "error": "access_denied"}, "sign_in_denied"),
        ({"code": None, "error": "<script>alert(1)</script>"}, "issuer_failed"),
    ],
    ids=shortened,
)
def test_forged_responses_are_rejected(
    server: Server, issuer: FakeIssuer, browser: Browser, change: dict[str, str | None], code: str
) -> None:
    response = changed(issuer.answer(start(browser, server)), **change)
    page = finish(browser, server, response)
    assert error_of(browser, server, page) == code
    assert browser.request(server, "/account/keys").status == 303


@pytest.mark.process
def test_a_response_is_for_the_browser_that_began_and_only_once(
    server: Server, issuer: FakeIssuer, browser: Browser
) -> None:
    response = issuer.answer(start(browser, server))
    victim = new_browser()
    assert error_of(victim, server, finish(victim, server, response)) == "sign_in_expired"
    cookies = dict(browser.cookies)
    assert finish(browser, server, response).headers["Location"] == "/account/keys"
    assert error_of(browser, server, finish(browser, server, response)) == "sign_in_expired"
    # The cookie again: the issuer has accepted its code.
    thief = new_browser(cookies)
    assert error_of(thief, server, finish(thief, server, response)) == "issuer_failed"


@pytest.mark.process
def test_a_response_of_one_issuer_does_not_answer_a_sign_in_with_another(
    server: Server, issuer: FakeIssuer, browser: Browser
) -> None:
    response = issuer.answer(start(browser, server))
    mixed = response.replace("/sign-in/fake/", "/sign-in/other/")
    assert error_of(browser, server, finish(browser, server, mixed)) == "sign_in_expired"


@pytest.mark.process
def test_a_code_is_bound_to_the_attempt(server: Server, issuer: FakeIssuer, browser: Browser) -> None:
    # A code of the attacker in the response to the victim (RFC 9700, section 4.5).
    attacker = new_browser()
    stolen = dict(parse_qsl(urlsplit(issuer.answer(start(attacker, server))).query))["code"]
    page = finish(browser, server, changed(issuer.answer(start(browser, server)), code=stolen))
    assert error_of(browser, server, page) == "issuer_failed"


@pytest.mark.process
@pytest.mark.parametrize(
    "back",
    [
        "//attacker.example",
        "https://attacker.example",
        "/\\attacker.example",
        "/\t/attacker.example",
        "javascript:a",
    ],
)
def test_nobody_is_redirected_elsewhere(server: Server, issuer: FakeIssuer, browser: Browser, back: str) -> None:
    assert sign_in(browser, server, issuer, quote(back, safe="")) == "/account/keys"
    other = new_browser()
    response = issuer.answer(start(other, server))
    own = other.cookies["sign-in"]
    other.cookies["sign-in"] = own.replace(quote("/account/keys", safe=""), quote(back, safe=""))
    page = finish(other, server, response)
    assert (page.headers["Location"] or "").partition("?")[0] in ("/account/keys", "/account/sign-in")


@pytest.mark.process
def test_malformed_callbacks_are_rejected(server: Server, issuer: FakeIssuer, browser: Browser) -> None:
    response = issuer.answer(start(browser, server))
    query = urlsplit(response).query
    for path in (f"{CALLBACK}?{query}&code=second", f"{CALLBACK}?state=%ff", f"{CALLBACK}?{'a=1&' * 60}"):
        assert browser.request(server, path).status == 400
    assert browser.request(server, "/account/sign-in/unknown").status == 404
    for cookie in ("x", "i=fake", "i=fake&b=%2F&t=nan&s=s&n=n&v=v", "i=fake&b=%2F&t=inf&s=s&n=n&v=v", "&" * 3_000):
        other = new_browser({"sign-in": cookie})
        assert error_of(other, server, other.request(server, f"{CALLBACK}?state=s&code=c")) == "sign_in_expired"


@pytest.mark.process
def test_a_sign_in_starts_a_session_with_a_new_secret(server: Server, issuer: FakeIssuer, browser: Browser) -> None:
    browser.cookies["session"] = fixed = ".chosen-by-an-attacker"
    sign_in(browser, server, issuer)
    assert browser.cookies["session"] not in (fixed, "")
    assert new_browser({"session": fixed}).request(server, "/account/keys").status == 303


@pytest.mark.process
def test_a_huge_discovery_document_and_a_slow_issuer_delay_nobody_else(installation: Installation) -> None:
    installation.command("quickstart")
    with run_issuer() as issuer, serve_with(installation, issuer) as server:
        issuer.set(faults={"padding": 1_000_000})
        browser = new_browser()
        assert error_of(browser, server, browser.request(server, "/account/sign-in/fake")) == "issuer_failed"
    with run_issuer() as issuer, serve_with(installation, issuer) as server, ThreadPoolExecutor() as pool:
        token, key = issuer.token(server.url), installation.new_key()
        issuer.set(faults={"delay": 2})
        waiting = pool.submit(server.search, "github", token)
        while not any(path.endswith("openid-configuration") for path in issuer.requests()):
            time.sleep(0.02)
        assert server.search("github", key).status == 200
        assert not waiting.done()
        assert waiting.result().status in (200, 503)


@pytest.mark.process
def test_tokens_in_the_url_and_several_tokens_are_rejected(server: Server, issuer: FakeIssuer) -> None:
    token, other = issuer.token(server.url), issuer.token(server.url, sub="bob")
    assert server.request(f"{MCP}?access_token={token}", token).json["error"]["data"]["error"] == "key_in_url"
    assert server.search("a", f"{token}, Bearer {other}").status == 401
    assert server.search("a", issuer.token(server.url, kind="JWT")).status == 200
    huge = issuer.token(server.url, padding="x" * 20_000)
    assert server.search("a", huge).status in (401, 431)


class Keys:
    """Keys of subjects in memory."""

    async def of_subject(self, subject: bytes, label: str, *, limit: int | None) -> ApiKey:
        return ApiKey(subject.hex(), label, "", limit, 0.0, is_subject=True)


def tokens() -> SubjectTokens:
    settings = IssuerConfig(publish=("groups=team a io.acme/*", "sub=bot io.bot.*/*", "groups=team b io.b/tool"))
    keys: Any = Keys()
    return SubjectTokens({URL: TokenIssuer(Setup().issuer, {AUDIENCE}, "Access tokens", settings)}, keys, 20, AUDIENCE)


def found(token: str) -> ApiKey | None:
    return run_sync(tokens().find(token))


def token_of(**claims: Any) -> str:
    return Setup().token(**{"scope": f"openid {SCOPE}", **claims})


def test_a_valid_token_is_found() -> None:
    assert found(token_of()) == found(token_of(scope=None, scp=[SCOPE]))
    assert found(token_of()) != found(token_of(sub="another"))


@pytest.mark.parametrize("token", FORGED.values(), ids=FORGED.keys())
def test_forged_tokens_authenticate_nobody(token: str) -> None:
    try:
        assert found(token) is None
    except InvalidToken:
        return


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "https://another.example"},
        {"aud": f"{AUDIENCE}.attacker.example"},
        {"aud": "directory"},
        {"iss": "https://attacker.example"},
        {"iss": None},
        {"cnf": {"jkt": "x"}},
        {"exp": 1},
    ],
    ids=shortened,
)
def test_tokens_for_others_authenticate_nobody(claims: dict[str, Any]) -> None:
    with pytest.raises(InvalidToken):
        found(token_of(**claims))


@pytest.mark.parametrize(
    "scope", [None, "", "openid", "mcp-registry:read2", "xmcp-registry:read", "MCP-REGISTRY:READ", {SCOPE: 1}, 7, [7]]
)
def test_other_scopes_are_not_enough(scope: Any) -> None:
    with pytest.raises(InsufficientScope):
        found(token_of(scope=scope))


def namespaces(**claims: Any) -> tuple[str, ...]:
    publisher = run_sync(tokens().publisher(token_of(**{"scope": "mcp-registry:write", **claims})))
    assert publisher is not None
    return publisher.namespaces


def test_claims_decide_what_the_subject_of_a_token_may_publish() -> None:
    assert namespaces(groups=["team a", "x"], sub="bot") == ("io.acme/*", "io.bot.*/*")
    assert namespaces(groups="team b") == ("io.b/tool",)
    for nobody in ({}, {"groups": ["team", "TEAM A", ["team a"], {"team a": 1}]}, {"sub": "bot2"}, {"bot": "sub"}):
        assert namespaces(**nobody) == ()


@pytest.mark.parametrize("scope", [None, SCOPE, "mcp-registry", "mcp-registry:writer", {"mcp-registry:write": 1}])
def test_a_token_without_the_scope_publishes_nothing(scope: Any) -> None:
    with pytest.raises(InsufficientScope, match="mcp-registry:write"):
        namespaces(scope=scope, sub="bot")
    with pytest.raises(InsufficientScope):
        found(token_of(scope="mcp-registry:write"))


@pytest.mark.parametrize("token", FORGED.values(), ids=FORGED.keys())
def test_forged_tokens_publish_nothing(token: str) -> None:
    try:
        assert run_sync(tokens().publisher(token)) is None
    except InvalidToken:
        return


@pytest.mark.parametrize("rule", ["io.acme/*", "=a io.acme/*", "groups= io.acme/*", "groups=a *", "groups=a io.*/*"])
def test_a_wrong_rule_of_publishing_is_rejected(rule: str) -> None:
    with pytest.raises(ValueError, match="groups=publishers"):
        IssuerConfig(publish=(rule,))


@pytest.mark.parametrize("kind", ["logout+jwt", "dpop+jwt", "secevent+jwt"])
def test_tokens_with_another_purpose_authenticate_nobody(kind: str) -> None:
    with pytest.raises(InvalidToken):
        found(signed(ONE, claims_of(scope=SCOPE), typ=kind))

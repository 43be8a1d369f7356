"""Client checks against a server in memory: what each client would see, and what a wrong proxy changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from attrs import evolve

from directory_server import sqlite
from directory_server.domain.entries import Entry
from directory_server.features.client_checks import web
from directory_server.features.client_checks.checks import Checks, EndedStream, Result
from directory_server.features.client_checks.clients import CLIENTS
from directory_server.features.client_checks.findings import Answer
from directory_server.http_client import BadResponse
from directory_server.runtime.run_sync import run_sync
from directory_server.tables import StoredRegistryTokens

from ...web.browsers import OPERATOR, Browser, account_of
from ...web.conftest import Server, open_server

URL = "https://localhost"

ALL_ON = {"registry.access": "public", "ard.access": "public", "web.url": URL}

Change = Callable[[str, Answer], Answer]


def results(server: Server, change: Change = lambda _, answer: answer, **options: Any) -> dict[str, Result]:
    """Return the results of the clients behind a proxy that changes answers."""

    async def send(method: str, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        parts = urlsplit(url)
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        response = server.request(method, path, key=None, headers=dict(headers), body=body)
        given = {name.lower(): value for name, value in response.headers.items()}
        return change(path, Answer(response.status, given, response.body))

    checks = Checks(send, URL, options.pop("registry", URL), **options)
    return {result.client.name: result for result in run_sync(checks.results())}


def codes(result: Result) -> list[str]:
    return [finding.code for finding in result.findings if finding.level == "problem"]


@pytest.fixture
def public(tmp_path: Path) -> Any:
    with open_server(tmp_path, ALL_ON) as server:
        yield server


def test_all_clients_work_with_a_public_server(public: Server) -> None:
    found = results(public, key=public.key)
    assert {name: codes(result) for name, result in found.items()} == {client.name: [] for client in CLIENTS}
    assert {name: result.servers for name, result in found.items()} == {
        **dict.fromkeys(("VS Code", "VS Code for the Web", "Copilot CLI", "JetBrains (Copilot)", "ARD clients"), 2),
        **{"Claude Code": found["Claude Code"].servers, **dict.fromkeys(("Cursor", "mcp-publisher", "Web browsers"))},
    }
    assert not found["VS Code"].more
    public.publish(*(Entry({"name": f"a.b/{n}", "version": "1", "description": "x" * (n > 1)}) for n in range(60)))
    many = results(public, key=public.key)["VS Code"]
    assert (many.servers, many.more) == (50, True)


def test_a_closed_server_says_which_clients_need_a_key(tmp_path: Path) -> None:
    with open_server(tmp_path, {**ALL_ON, "registry.access": "key", "ard.access": "key"}) as server:
        found = results(server)
        assert codes(found["VS Code"]) == ["login"]
        # They can send one.
        assert (codes(found["Cursor"]), codes(found["ARD clients"])) == ([], [])
        assert [finding.code for finding in found["Cursor"].findings] == ["key"]
        assert codes(results(server, key="mcpd_wrong")["Cursor"]) == ["rejected"]
        assert codes(results(server, key=server.key)["ARD clients"]) == []
    with open_server(tmp_path, {"registry.access": "off", "ard.access": "off"}) as server:
        found = results(server)
        assert {*codes(found["Copilot CLI"]), *codes(found["ARD clients"])} == {"absent"}


def test_a_secret_path_is_the_url_of_editors(tmp_path: Path) -> None:
    with open_server(tmp_path, {"registry.access": "secret-path"}) as server:
        assert {*codes(results(server)["VS Code"])} == {"absent"}
        tokens = StoredRegistryTokens(sqlite.SqliteTables(server.database), server.clock.seconds)
        _, token = run_sync(tokens.create("editors"))
        found = results(server, registry=f"{URL}/r/{token}")
        assert (codes(found["VS Code"]), found["VS Code"].servers) == ([], 2)
        assert (codes(found["Copilot CLI"]), found["Copilot CLI"].servers) == ([], 2)


def fails(error: BadResponse, path: str = "") -> Change:
    """Return a change that raises `error` for requests whose path begins with `path`."""

    def change(requested: str, answer: Answer) -> Answer:
        if requested.startswith(path):
            raise error
        return answer

    return change


def answers(status: int, body: bytes = b"", **headers: str) -> Change:
    """Return a change to an answer of this server."""
    return lambda _, answer: evolve(answer, status=status, body=body, headers={**answer.headers, **headers})


def of_proxy(status: int) -> Change:
    """Return a change to an answer of the proxy."""
    return lambda _, answer: Answer(status, {}, b"<html>")


def with_origins(*origins: str) -> Change:
    """Return a change of the header Access-Control-Allow-Origin."""
    changed = {"access-control-allow-origin": ", ".join(origins)}
    return lambda _, answer: evolve(answer, headers={**answer.headers, **changed})


WRONG_HOST = b'{"message":"The Host \'directory\' is not allowed."}'

PROXIES: list[tuple[Change, str, str]] = [
    (fails(BadResponse("Its certificate is not for localhost.")), "VS Code", "failed"),
    (fails(BadResponse("Its certificate is not trusted on this machine.")), "VS Code", "certificate"),
    (fails(BadResponse("It did not answer within 10 seconds."), "/news"), "Web browsers", "buffered"),
    (fails(EndedStream("The stream ended after 5 seconds."), "/news"), "Web browsers", "cut"),
    (lambda path, answer: of_proxy(404)(path, answer) if "oauth" in path else answer, "Cursor", "proxy"),
    (of_proxy(502), "Cursor", "dead"),
    (of_proxy(401), "VS Code", "proxy_login"),
    (of_proxy(403), "ARD clients", "proxy"),
    (of_proxy(413), "mcp-publisher", "body"),
    (answers(301, location="https://other/"), "VS Code", "redirect"),
    (answers(429), "VS Code", "limit"),
    (answers(429), "Cursor", "quota"),
    (answers(500), "Cursor", "status"),
    (answers(403, WRONG_HOST), "VS Code", "host"),
    (answers(403, WRONG_HOST), "ARD clients", "host"),
    (answers(200, b"<html>Sign in"), "Copilot CLI", "json"),
    (answers(200, b"[]"), "Cursor", "json"),
    (answers(200, b'{"servers":[],"metadata":{}}'), "JetBrains (Copilot)", "empty"),
    (with_origins(""), "VS Code for the Web", "cors"),
    (with_origins("*", "*"), "VS Code for the Web", "cors_twice"),
    (lambda _, answer: evolve(answer, body=answer.body.replace(b"https://", b"http://")), "ARD clients", "url"),
]


def test_what_a_proxy_breaks_is_named(public: Server) -> None:
    _, key = public.new_key(limit=None)
    for change, client, code in PROXIES:
        # The address has a limit.
        public.clock.advance(60)
        assert codes(results(public, change, key=key)[client])[:1] == [code]
    assert not any(map(codes, results(public, key=key).values()))


def test_packages_that_a_policy_may_block_are_counted(public: Server) -> None:
    package = {"registryType": "npm", "identifier": "x", "transport": {"type": "stdio"}}
    for name, version in (("a.b/loose", {}), ("a.b/exact", {"version": "1.0.0"})):
        document = {"name": name, "version": "1", "description": "x", "packages": [{**package, **version}]}
        public.publish(Entry(document))
    found = results(public)
    [finding] = [finding for finding in found["Copilot CLI"].findings if finding.code == "unpinned"]
    assert "exact version: 1." in finding.message
    assert "unpinned" not in [finding.code for finding in found["VS Code"].findings]


def test_managed_settings_that_are_served_are_counted(tmp_path: Path) -> None:
    with open_server(tmp_path, {**ALL_ON, "managed_settings.enabled": True}) as server:
        assert [finding.code for finding in results(server)["VS Code"].findings] == ["managed"]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the URLs that the page of a server requests, which get no answer."""
    urls: list[str] = []

    async def send(_: str, url: str, *__: Any) -> Answer:
        urls.append(url)
        raise BadResponse("It does <b>not</b> answer.")

    monkeypatch.setattr(web, "sender", lambda _: send)
    return urls


def test_operators_run_the_checks_on_a_page(asked: list[str], server: Server, operator: Browser) -> None:
    operator.get("/admin/clients")
    assert ("What would my editor see?" in operator.text, asked) == (True, [])
    operator.get("/admin/clients?run=1&path=/r/token")
    assert "It does &lt;b&gt;not&lt;/b&gt; answer." in operator.page
    # Requests go to this server only.
    assert {urlsplit(url).netloc for url in asked} == {"localhost"}
    assert any(urlsplit(url).path.startswith("/r/token/v0.1/servers") for url in asked)
    for path in ("//evil.example", "/r/../x", "http://evil.example", "@evil.example"):
        assert operator.get(f"/admin/clients?run=1&path={path}").status == 400
    assert server.get("/admin/clients?run=1", key=None).status in (303, 401, 404)


PUBLIC = {"Host": "localhost", "X-Forwarded-For": "192.0.2.1"}


def test_the_page_says_what_the_proxy_does_not_pass_on(tmp_path: Path) -> None:
    settings = {"web.url": "https://localhost", "http.trusted_proxies": ("10.0.0.1",)}

    def shown(address: str, **headers: str) -> str:
        browser = Browser(server, address, **{name.replace("_", "-"): value for name, value in headers.items()})
        assert browser.sign_in(OPERATOR).status == 303
        browser.get("/admin/clients")
        return browser.text

    with open_server(tmp_path, settings) as server:
        run_sync(server.accounts.set_role(account_of(server, OPERATOR).id, "operator"))
        assert "does not trust the proxy at 10.0.0.2" in shown("10.0.0.2", **PUBLIC, X_Forwarded_Proto="https")
        assert "does not send X-Forwarded-For" in shown("10.0.0.1", Host="localhost")
        assert "does not send X-Forwarded-Proto" in shown("10.0.0.1", **PUBLIC)
        for text in (shown("10.0.0.1", **PUBLIC, X_Forwarded_Proto="https"), shown("127.0.0.1", Host="localhost:80")):
            assert "proxy" not in text

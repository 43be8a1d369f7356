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
from directory_server.features.client_checks.checks import Answer, Checks, Result
from directory_server.features.client_checks.clients import CLIENTS
from directory_server.http_client import BadResponse
from directory_server.runtime.run_sync import run_sync
from directory_server.tables import StoredRegistryTokens

from ...web.browsers import Browser
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
        **{"Claude Code": found["Claude Code"].servers, "Cursor": None, "mcp-publisher": None},
    }
    assert not found["VS Code"].more
    public.publish(*(Entry({"name": f"a.b/{n}", "version": "1", "description": "x" * (n > 1)}) for n in range(60)))
    many = results(public, key=public.key)["VS Code"]
    assert (many.servers, many.more) == (50, True)


def test_a_closed_server_says_which_clients_need_a_key(tmp_path: Path) -> None:
    with open_server(tmp_path, {**ALL_ON, "registry.access": "key", "ard.access": "key"}) as server:
        found = results(server)
        assert codes(found["VS Code"]) == ["login"] * 3
        assert codes(found["Cursor"]) == ["key"]
        assert codes(found["ARD clients"]) == ["key", "key"]
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


def broken(_: str, __: Answer) -> Answer:
    raise BadResponse("Its certificate is not for localhost.")


PROXIES: list[tuple[Change, str, str]] = [
    (broken, "VS Code", "failed"),
    (lambda _, answer: evolve(answer, status=301, headers={"location": "https://other/"}), "VS Code", "redirect"),
    (lambda _, answer: evolve(answer, body=b"<html>Sign in"), "Copilot CLI", "json"),
    (lambda _, answer: evolve(answer, body=b"[]"), "Cursor", "json"),
    (lambda _, answer: evolve(answer, headers={}), "VS Code for the Web", "cors"),
    (lambda _, answer: evolve(answer, status=429), "VS Code", "limit"),
    (lambda _, answer: evolve(answer, status=502), "Cursor", "status"),
    (lambda _, answer: evolve(answer, status=403, body=b'{"error":"forbidden_host"}'), "VS Code", "host"),
    (lambda _, answer: evolve(answer, body=b'{"servers":[],"metadata":{}}'), "JetBrains (Copilot)", "empty"),
    (lambda _, answer: evolve(answer, body=answer.body.replace(b"https://", b"http://")), "ARD clients", "url"),
]


@pytest.mark.parametrize(("change", "client", "code"), PROXIES)
def test_what_a_proxy_breaks_is_named(public: Server, change: Change, client: str, code: str) -> None:
    assert code not in codes(results(public, key=public.key)[client])
    assert code in codes(results(public, change, key=public.key)[client])


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

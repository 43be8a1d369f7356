"""`directory-server doctor`: what it finds, and what it says to do."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from directory_server.cli import _doctor
from directory_server.cli.findings import Finding, Unreachable, clock_findings, fetch, findings_of
from directory_server.domain.keys import Client, KeyUse
from directory_server.domain.upstreams import UpstreamState
from directory_server.runtime.run_sync import run_sync
from directory_server.tables import StoredFollowers, StoredMirrors

from ..process._certificates import certificate
from ._http_server import http_server
from .conftest import CommandLine

HEALTH = {"status": "ok", "entries": 1, "generation": 1}

Answers = Mapping[str, tuple[dict[str, str], Any]]
"""Fields and bodies of answers by path."""


@contextmanager
def answering(answers: Answers, pem: Path | None = None) -> Iterator[int]:
    """Run a server, under TLS if `pem` has its key and certificate; yield its port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            fields, body = answers.get(self.path, ({}, None))
            self.send_response_only(404 if body is None else 200)
            for name, value in fields.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, format: str, *arguments: Any) -> None:
            """Write nothing."""

    with http_server(Handler, pem) as port:
        yield port


def test_a_peer_writes_no_lines_of_its_own() -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.wfile.write(b"HTTP/1.1 \x1b[31m\r\n\r\n")

        def log_message(self, format: str, *arguments: Any) -> None:
            """Write nothing."""

    with http_server(Handler) as port, pytest.raises(Unreachable) as raised:
        fetch(f"http://127.0.0.1:{port}/")
    assert str(raised.value).isprintable()


def findings(directory: CommandLine, *settings: str, file: Path | None = None) -> dict[str, list[dict[str, str]]]:
    """Return the findings by check."""
    options = [option for setting in settings for option in ("--set", setting)]
    by_check: dict[str, list[dict[str, str]]] = {}
    result = directory.run(*(["--config", str(file)] if file else []), *options, "doctor", "--json")
    for finding in json.loads(result.stdout):
        by_check.setdefault(finding["check"], []).append(finding)
    return by_check


def test_a_new_directory_has_cures(directory: CommandLine) -> None:
    result = directory.run("--set", "listen=unix:socket", "doctor")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0].startswith("error    server:")
    assert lines[1].startswith("         Start it")
    assert "warning  url: web.url is empty: links and configurations have the local URL." in lines
    assert "warning  backup: None was made by this software." in lines
    assert any(line.startswith("ok       disk:") for line in lines)
    directory.succeed("backup", str(directory.data.parent / "copy"))
    assert findings(directory)["backup"][0]["state"] == "ok"


@pytest.mark.parametrize(("cookie", "state"), [("a=b; Secure", "ok"), ("a=b", "error")])
def test_the_public_url_its_proxy_and_its_certificate(
    directory: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cookie: str, state: str
) -> None:
    pem = certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    answers: Answers = {"/healthz": ({}, HEALTH), "/account/sign-in": ({"Set-Cookie": cookie}, {})}
    with answering(answers, pem) as port:
        late = findings(directory, f"web.url=https://localhost:{port}")
        monkeypatch.setattr(_doctor, "LEAST_DAYS", 0)
        found = findings(directory, f"web.url=https://localhost:{port}")
    assert found["url"][0]["state"] == "ok"
    assert found["proxy"][0]["state"] == state
    assert ("http.trusted_proxies" in found["proxy"][0]["cure"]) == (state == "error")
    assert (found["certificate"][0]["state"], late["certificate"][0]["state"]) == ("ok", "warning")


def test_a_host_that_the_proxy_replaces(
    directory: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pem = certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    rejected = {"detail": "The Host 'upstream' is not allowed. The operator can allow it with http.allowed_hosts."}
    with answering({"/healthz": ({}, HEALTH), "/account/sign-in": ({}, rejected)}, pem) as port:
        (found,) = findings(directory, f"web.url=https://localhost:{port}")["proxy"]
    assert (found["state"], "proxy_set_header Host" in found["cure"]) == ("error", True)


def test_another_server_at_the_public_url(directory: CommandLine, tmp_path: Path) -> None:
    with ExitStack() as stack:
        port = stack.enter_context(answering({"/healthz": ({}, {"status": "ok"})}))
        old = stack.enter_context(answering({"/healthz": ({}, {**HEALTH, "version": "0.0.1"})}))
        untrusted = stack.enter_context(answering({}, certificate(tmp_path)))
        (other,) = findings(directory, f"web.url=http://127.0.0.1:{port}")["url"]
        (former,) = findings(directory, f"web.url=http://127.0.0.1:{old}")["url"]
        (unknown,) = findings(directory, f"web.url=https://localhost:{untrusted}")["url"]
    (closed,) = findings(directory, f"web.url=http://127.0.0.1:{port}")["url"]
    assert "not as this server" in other["text"]
    assert (former["state"], former["cure"]) == ("warning", "Restart the server after an upgrade.")
    assert "has a certificate that is not valid" in unknown["text"]
    assert "cannot be reached: Connection refused" in closed["text"]


def test_upstreams_and_the_clock(directory: CommandLine, tmp_path: Path) -> None:
    mirrors = StoredMirrors(directory.accounts._tables, StoredFollowers(directory.accounts._tables))
    run_sync(mirrors.put(UpstreamState("old", last_success=1_000_000.0)))
    run_sync(mirrors.put(UpstreamState("broken", last_success=1_000_000.0, error="It answered 503.")))
    with answering({"/": ({"Date": "Sat, 01 Jan 2000 00:00:00 GMT"}, {})}) as port:
        file = tmp_path / "upstreams.toml"
        url = f"http://127.0.0.1:{port}/"
        tables = [f'[[upstream]]\nname = "{name}"\nurl = "{url}{name}"\n' for name in ("old", "broken", "new")]
        file.write_text("".join(tables).replace(f"{url}old", url))
        found = findings(directory, file=file)
    assert found["upstream broken"][0]["state"] == "error"
    assert "It answered 503." in found["upstream broken"][0]["text"]
    assert found["upstream old"][0]["state"] == found["upstream new"][0]["state"] == "warning"
    (time,) = found["time"]
    assert "seconds ahead of old" in time["text"]
    assert "timedatectl" in time["cure"]


def test_keys_that_are_used_from_this_machine_only(directory: CommandLine) -> None:
    directory.succeed("key", "create", "--label", "laptop")
    (key,) = directory.all_keys()
    url = "web.url=http://directory.invalid"
    run_sync(directory.key_uses.record([KeyUse(key.id, 1.0, Client("127.0.0.0/24", "curl"))]))
    (proxy,) = findings(directory, url)["proxy"]
    assert (proxy["state"], "X-Forwarded-For" in proxy["cure"]) == ("warning", True)
    run_sync(directory.key_uses.record([KeyUse(key.id, 2.0, Client("192.0.2.0/24", "curl"))]))
    assert findings(directory, url)["proxy"][0]["state"] == "ok"


def test_a_mail_server_that_is_not_there(directory: CommandLine) -> None:
    with answering({}) as port:
        pass
    mail = (f"requests.mail_port={port}", "requests.mail_host=127.0.0.1", "requests.mail_sender=a@example.org")
    (found,) = findings(directory, "web.url=http://127.0.0.1:1", *mail)["mail"]
    assert "Connection refused" in found["text"]
    assert "requests.mail_host" in found["cure"]


def test_an_issuer_names_itself(directory: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "issuers.toml"
    answers: dict[str, tuple[dict[str, str], Any]] = {}
    with answering(answers) as port:
        url = f"http://127.0.0.1:{port}"
        answers["/a/.well-known/openid-configuration"] = ({}, {"issuer": f"{url}/a"})
        answers["/b/.well-known/openid-configuration"] = ({}, {"issuer": f"{url}/b/"})
        tables = [f'[[sign_in.issuer]]\nname = "{name}"\nurl = "{url}/{name}"\nclient_id = "x"\n' for name in "abc"]
        file.write_text(f'[web]\nurl = "http://127.0.0.1:1"\n{"".join(tables)}')
        found = findings(directory, file=file)
    assert found["issuer a"][0]["state"] == "ok"
    assert found["issuer b"][0]["cure"] == f"Set the url of the issuer to '{url}/b/'."
    assert found["issuer c"][0]["state"] == "error"


def test_checks_end_by_the_deadline_whatever_they_do() -> None:
    release = threading.Event()

    def hangs() -> list[Finding]:
        release.wait()
        return []

    def fails() -> list[Finding]:
        raise ZeroDivisionError

    found = {finding.check: finding for finding in findings_of({"slow": hangs, "broken": fails}, 0.2)}
    release.set()
    assert "It took more than 0.2 seconds." in found["slow"].text
    assert "ZeroDivisionError" in found["broken"].text


@pytest.mark.parametrize(("skew", "states"), [(None, []), (59.0, ["ok"]), (-61.0, ["error"])])
def test_a_small_difference_of_clocks_is_fine(skew: float | None, states: list[str]) -> None:
    assert [finding.state for finding in clock_findings("a registry", skew)] == states

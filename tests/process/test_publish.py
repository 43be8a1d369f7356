"""The official publisher against two processes on one data directory."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from ..features.publishing.fake_logins import ed25519
from ..issuers.signing import claims_of, rsa_key, signed
from .conftest import Installation, Server, until
from .mcp_publisher import McpPublisher, PublisherFailed
from .test_fleet import additional_process

pytestmark = pytest.mark.process

SETTINGS = ("--set", "publish.enabled=true", "--set", "registry.access=public")

NAME = "io.acme/xylophone"


def server_json(version: str = "1.0.0", **members: Any) -> dict[str, Any]:
    return {"name": NAME, "description": "Plays the xylophone.", "version": version, **members}


def new_token(installation: Installation, *options: str) -> str:
    return installation.command("publisher", "create", "--label", "ci", "--namespace", "io.acme/*", *options).strip()


def test_the_official_publisher_publishes_and_changes_the_status(installation: Installation, tmp_path: Path) -> None:
    key = installation.new_key("--limit", "unlimited")
    publisher = McpPublisher(tmp_path)
    with (
        installation.serve("--reuse-port", *SETTINGS) as first,
        additional_process(installation, first, *SETTINGS) as second,
    ):
        publisher.login_github(first.url, new_token(installation))
        assert publisher.publish(server_json()) == (NAME, "1.0.0")
        until(lambda: first.entry_count() == 1 and is_found_by_both(installation, key, [first, second]), "the entry")
        with pytest.raises(PublisherFailed, match="version_exists"):
            publisher.publish(server_json())
        package = {"registryType": "npm", "identifier": "x", "transport": {"type": "http"}}
        with pytest.raises(PublisherFailed, match=r"packages\[0\].transport.type: must be one of 'stdio'"):
            publisher.publish(server_json("1.1.0", packages=[package]))
        publisher.publish(server_json("1.1.0"))
        assert publisher.status(NAME, "1.1.0", "deleted", "It leaks.") == ("active", "deleted")
        assert json.loads(installation.command("entry", "show", NAME))["version"] == "1.0.0"
        assert json.loads(installation.command("entry", "show", NAME))["source"] == "published"
        # The message of the deleted version is removed.
        assert publisher.status_of_all(NAME, "deleted") == 2
        until(lambda: first.search_names("xylophone", key) == [], "the entry is gone")
        (shown,) = json.loads(installation.command("publisher", "list", "--json"))
        installation.command("publisher", "revoke", shown["id"])
        # Requests reach any of the two processes.
        for _ in range(10):
            with pytest.raises(PublisherFailed, match="status 401"):
                publisher.publish(server_json("2.0.0"))
        with pytest.raises(PublisherFailed, match="token exchange failed with status 401"):
            publisher.login_github(first.url, json.loads(publisher.token_file.read_text())["token"])
        for server in (first, second):
            server.stop()
    records = json.loads(installation.command("publisher", "log", "--json"))
    assert [(each["action"], each["version"], each["outcome"]) for each in reversed(records)] == [
        ("publish", "1.0.0", "done"),
        ("publish", "1.0.0", "version_exists"),
        ("publish", "1.1.0", "invalid_server"),
        ("publish", "1.1.0", "done"),
        ("status: deleted", "1.1.0", "done"),
        ("status: deleted", "*", "done"),
    ]
    assert {each["network"] for each in records} == {"127.0.0.0/24"}


def is_found_by_both(installation: Installation, key: str, servers: list[Server]) -> bool:
    """Return whether searches find the entry in both processes, which share a port."""
    found = Counter[str]()
    for _ in range(20):
        response = servers[0].search("xylophone", key)
        if response.json["count"]:
            found[str(response.headers["X-Request-Id"]).partition("-")[0]] += 1
    return len(found) == len(servers)


class Github(BaseHTTPRequestHandler):
    """GitHub: tokens for a job, the discovery document and the keys."""

    key = rsa_key()

    def do_GET(self) -> None:
        url, parts = f"http://{self.headers['Host']}", urlsplit(self.path)
        document: Any = {"issuer": url, "jwks_uri": f"{url}/keys"}
        if parts.path == "/keys":
            document = {"keys": [self.key.as_dict(private=False)]}
        elif parts.path == "/token":
            (audience,) = parse_qs(parts.query)["audience"]
            claims = claims_of(url, time.time(), aud=audience, repository_owner="octo-org", event_name="push")
            document = {"value": signed(self.key, claims)}
        body = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing is logged."""


@pytest.fixture
def github() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Github)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_builds_publish_without_a_secret(installation: Installation, tmp_path: Path, github: str) -> None:
    settings = (
        *SETTINGS,
        *("--set", f"publish.github_issuer={github}", "--set", "publish.github_namespaces=*"),
        *("--set", "publish.github_audience=http://registry.example"),
        *("--set", "publish.http_namespaces=*"),
    )
    publisher = McpPublisher(tmp_path)
    with installation.serve("--reuse-port", *settings) as server:
        with pytest.raises(PublisherFailed, match=r"401: .*The audience of the token must be http://registry\.example"):
            publisher.login_github_oidc(server.url, f"{github}/token?api-version=2.0", "secret")
        # The URL of this server is known only after its start.
        publisher.login_github_oidc(server.url, f"{github}/token?api-version=2.0", "secret", "http://registry.example")
        assert publisher.publish({**server_json(), "name": "io.github.octo-org/x"}) == ("io.github.octo-org/x", "1.0.0")
        with pytest.raises(PublisherFailed, match="forbidden_namespace"):
            publisher.publish(server_json())
        # No address of this machine is asked for the key of a domain.
        with pytest.raises(
            PublisherFailed, match=r"401: .*cannot be read\. Its name is not known, or its address is not public"
        ):
            publisher.login_domain(server.url, "http", ed25519().login("acme.invalid", time.time()))
        with pytest.raises(PublisherFailed, match="or with: login github-oidc, or with: login http"):
            publisher.login_domain(server.url, "dns", ed25519().login("acme.invalid", time.time()))
        server.stop()

"""A stand-in for `mcp-publisher` that sends the requests of its source (cmd/publisher, 2026) in the same order.

It keeps the token in a file as the program does: `token`, `method` and `registry`.
"""

from __future__ import annotations

import json
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from attrs import frozen

from .conftest import TIMEOUT, Response

_GO = {"User-Agent": "Go-http-client/1.1", "Accept-Encoding": "gzip"}


class PublisherFailed(Exception):
    """The program has ended with an error."""


@frozen
class McpPublisher:
    """The program with its home directory."""

    home: Path

    @property
    def token_file(self) -> Path:
        return self.home / ".config" / "mcp-publisher" / "token.json"

    def login_github(self, registry: str, token: str) -> None:
        """Run `login github --registry REGISTRY --token TOKEN`."""
        self._exchange(registry, "github-at", {"github_token": token}, "github")

    def login_github_oidc(self, registry: str, request_url: str, request_token: str, audience: str = "") -> None:
        """Run `login github-oidc --registry REGISTRY` (version 1.7.6) in a job of GitHub Actions.

        The job gets `request_url` and `request_token` as ACTIONS_ID_TOKEN_REQUEST_URL and …_TOKEN. `audience` is that
        of the token, the URL of the registry if it is empty.
        """
        url = f"{request_url}&audience={quote(audience or registry, safe='')}"
        response = _send("GET", url, Authorization=f"Bearer {request_token}", Accept="application/json")
        self._exchange(registry, "github-oidc", {"oidc_token": response.json["value"]}, "github-oidc")

    def login_domain(self, registry: str, method: str, proof: dict[str, str]) -> None:
        """Run `login dns` or `login http`; `proof` is the domain and the timestamp that its key has signed."""
        self._exchange(registry, method, proof, method)

    def _exchange(self, registry: str, path: str, body: Any, method: str) -> None:
        response = _send("POST", f"{registry}/v0/auth/{path}", body, Accept="application/json")
        if response.status != 200:
            raise PublisherFailed(f"token exchange failed with status {response.status}: {response.body.decode()}")
        saved = {"token": response.json["registry_token"], "method": method, "registry": registry}
        self.token_file.parent.mkdir(parents=True, exist_ok=True)
        self.token_file.write_text(json.dumps(saved))

    def publish(self, server: Any) -> tuple[str, str]:
        """Run `publish`; return the name and version that the program prints."""
        response = self._authorized("POST", "/v0/publish", server)
        if response.status == 422:
            found = self._send("POST", "/v0/validate", server)
            if found.status == 200 and not found.json["valid"]:
                raise PublisherFailed("; ".join(f"{each['path']}: {each['message']}" for each in found.json["issues"]))
        if response.status not in (200, 201):
            raise PublisherFailed(f"server returned status {response.status}: {response.body.decode()}")
        return response.json["server"]["name"], response.json["server"]["version"]

    def status(self, name: str, version: str, status: str, message: str = "") -> tuple[str, str]:
        """Run `status --status STATUS [--message MESSAGE] NAME VERSION`; return the status before and after."""
        path = f"/v0/servers/{quote(name, safe='')}/versions/{quote(version, safe='')}"
        known = self._authorized("GET", f"{path}?include_deleted=true")
        if known.status != 200:
            raise PublisherFailed(f"failed to fetch current status: {known.status}")
        body = {"status": status} | ({"statusMessage": message} if message else {})
        changed = self._authorized("PATCH", f"{path}/status", body)
        if changed.status != 200:
            raise PublisherFailed(f"server returned status {changed.status}: {changed.body.decode()}")
        return _status(known.json), _status(changed.json)

    def status_of_all(self, name: str, status: str) -> int:
        """Run `status --status STATUS --all-versions --yes NAME`; return the number that the program prints."""
        path = f"/v0/servers/{quote(name, safe='')}"
        known = self._authorized("GET", f"{path}/versions?include_deleted=true")
        if known.status != 200 or not known.json["servers"]:
            raise PublisherFailed("no versions found for this server")
        changed = self._authorized("PATCH", f"{path}/status", {"status": status})
        if changed.status != 200:
            raise PublisherFailed(f"server returned status {changed.status}: {changed.body.decode()}")
        return int(changed.json["updatedCount"])

    def _authorized(self, method: str, path: str, body: Any = None) -> Response:
        saved = json.loads(self.token_file.read_text())
        return _send(method, saved["registry"] + path, body, Authorization=f"Bearer {saved['token']}")

    def _send(self, method: str, path: str, body: Any = None) -> Response:
        return _send(method, json.loads(self.token_file.read_text())["registry"] + path, body)


def _status(item: Any) -> str:
    return str(item["_meta"]["io.modelcontextprotocol.registry/official"]["status"])


def _send(method: str, url: str, body: Any = None, **headers: str) -> Response:
    parts = urlsplit(url)
    connection = HTTPConnection(str(parts.hostname), parts.port, timeout=TIMEOUT)
    content_type = {} if body is None else {"Content-Type": "application/json"}
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    encoded = None if body is None else json.dumps(body)
    connection.request(method, target, encoded, {**_GO, **content_type, **headers})
    with connection.getresponse() as response:
        return Response(response.status, response.headers, response.read())

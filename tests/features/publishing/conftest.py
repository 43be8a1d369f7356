"""A publisher that sends the requests of the official program."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest
from attrs import frozen

from directory_server.domain.entries import OFFICIAL
from directory_server.features.publishing.server_json import SCHEMAS
from directory_server.features.publishing.tokens import PublisherToken
from directory_server.runtime.run_sync import run_sync

from ...web.conftest import Response, Server

NAME = "io.acme/weather"

GO = {"User-Agent": "Go-http-client/1.1", "Accept-Encoding": "gzip"}
"""Headers of Go's HTTP client, in which the official publisher is written."""


def server_json(name: str = NAME, version: str = "1.0.0", **members: Any) -> dict[str, Any]:
    return {"$schema": SCHEMAS[0], "name": name, "description": "Forecasts.", "version": version, **members}


@frozen
class Publisher:
    """A publisher with a token, who sends what `mcp-publisher` sends."""

    server: Server
    token: PublisherToken
    secret: str

    def send(self, method: str, path: str, body: Any = None, *, secret: str | None = None, **options: Any) -> Response:
        headers = {**GO, "Authorization": f"Bearer {self.secret if secret is None else secret}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        encoded = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        headers |= options.pop("headers", {})
        return self.server.request(method, path, key=None, headers=headers, body=encoded, **options)

    def publish(self, server: Any, **options: Any) -> Response:
        """Send what `mcp-publisher publish` sends."""
        return self.send("POST", "/v0/publish", server, **options)

    def status(self, name: str, version: str | None, status: str, message: str | None = None) -> Response:
        """Send what `mcp-publisher status` sends: a look-up, then the change."""
        tail = "/versions" if version is None else f"/versions/{quote(version, safe='')}"
        path = f"/v0/servers/{quote(name, safe='')}"
        known = self.send("GET", f"{path}{tail}?include_deleted=true")
        if known.status != 200:
            return known
        body = {"status": status} | ({} if message is None else {"statusMessage": message})
        return self.send("PATCH", f"{path}/status" if version is None else f"{path}{tail}/status", body)

    def log(self) -> list[tuple[str, str, str, str]]:
        found = run_sync(self.server.publication_log.newest())
        return [(each.action, each.name, each.version, each.outcome) for _, each in found]


@pytest.fixture
def publisher(server: Server) -> Publisher:
    return new_publisher(server, "io.acme/*")


def new_publisher(server: Server, *namespaces: str, expires_at: float | None = None) -> Publisher:
    token, secret = run_sync(server.publishers.create("ci", namespaces, expires_at=expires_at))
    return Publisher(server, token, secret)


def problems(response: Response) -> list[tuple[str, str]]:
    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.json["status"] == response.status
    return [(each["location"], each["message"]) for each in response.json["errors"]]


def official(item: Any) -> Any:
    return item["_meta"][OFFICIAL]

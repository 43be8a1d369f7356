"""A client with the Python SDK that finds the issuer, registers, gets an access token and lists the tools.

Arguments: the endpoint's URL, and words to search for. It prints the results as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any
from urllib.parse import parse_qs, urlsplit

from httpx2 import AsyncClient
from mcp.client import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

CALLBACK = "http://127.0.0.1:9/callback"


class Memory:
    """Stores tokens and the registration."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


async def use(url: str, keywords: str) -> dict[str, Any]:
    """Return the results by name."""
    memory, visited = Memory(), list[str]()

    async def redirect(target: str) -> None:
        async with AsyncClient() as browser:
            response = await browser.get(target)
        visited.extend((target, response.headers["Location"]))

    async def callback() -> AuthorizationCodeResult:
        answer = {name: values[0] for name, values in parse_qs(urlsplit(visited[1]).query).items()}
        return AuthorizationCodeResult(code=answer["code"], state=answer["state"], iss=answer.get("iss"))

    metadata = OAuthClientMetadata(redirect_uris=[AnyUrl(CALLBACK)], client_name="test")
    provider = OAuthClientProvider(url, metadata, memory, redirect, callback)
    async with (
        AsyncClient(auth=provider, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http), read_timeout_seconds=60) as client,
    ):
        tools = await client.list_tools()
        found = await client.call_tool("search_mcp", {"keywords": keywords, "limit": 20})
        assert not found.is_error
        assert found.structured_content is not None
    asked = {name: values[0] for name, values in parse_qs(urlsplit(visited[0]).query).items()}
    return {
        "tools": [tool.name for tool in tools.tools],
        "hits": [hit["mcp_id"] for hit in found.structured_content["data"]],
        "resource": asked.get("resource"),
        "scope": asked["scope"],
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(use(*sys.argv[1:]))))

"""A client with the Python SDK that sends the requests of an editor and prints the results as JSON.

Arguments: the endpoint's URL, an API key of three requests, and the mode (legacy, auto, or a version).
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from httpx2 import AsyncClient
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client


async def use(url: str, key: str, mode: str) -> dict[str, Any]:
    """Send the requests and return the results by name."""
    async with (
        AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode, read_timeout_seconds=60) as client,
    ):
        tools = await client.list_tools()
        bad = await client.call_tool("search_mcp", {"keywords": "github", "limit": 0})
        found = await client.call_tool("search_mcp", {"keywords": "github", "limit": 3})
        chosen = found.structured_content["data"][0]
        detail = await client.call_tool("get_mcp_detail", {"mcp_id": chosen["mcp_id"]})
        last = await client.call_tool("search_mcp", {"keywords": "github"})
        over = await client.call_tool("search_mcp", {"keywords": "github"})
        return {
            "version": client.protocol_version,
            "tools": [tool.name for tool in tools.tools],
            "bad": bad.model_dump(mode="json"),
            "found": found.model_dump(mode="json"),
            "detail": detail.model_dump(mode="json"),
            "last": last.is_error,
            "over": over.model_dump(mode="json"),
        }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(use(*sys.argv[1:]))))

"""A client as the Python SDK makes it, that waits to be told of a change: prints a line of JSON for each step.

Arguments: the endpoint's URL, an API key, and the mode (legacy, or a version). The first line comes when it listens,
the second, with what the list of resources is then, when it has been told. It gives up after some time.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from httpx2 import AsyncClient, Response
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ResourceListChangedNotification

PATIENCE = 30.0


def say(**said: Any) -> None:
    print(json.dumps(said), flush=True)


async def listen(url: str, key: str, mode: str) -> None:
    """Say what comes of listening."""
    streaming, changed = asyncio.Event(), asyncio.Event()

    async def answered(response: Response) -> None:
        if response.request.method == "GET" and response.headers["Content-Type"] == "text/event-stream":
            streaming.set()

    async def told(message: object) -> None:
        if isinstance(message, ResourceListChangedNotification):
            changed.set()

    async with (
        AsyncClient(
            headers={"Authorization": f"Bearer {key}"}, timeout=30, event_hooks={"response": [answered]}
        ) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode, message_handler=told) as client,
    ):
        if mode == "legacy":
            await streaming.wait()
            say(version=client.protocol_version)
            await changed.wait()
        else:
            async with client.listen(resources_list_changed=True, tools_list_changed=True) as subscription:
                assert subscription.honored.tools_list_changed is None
                say(version=client.protocol_version)
                await anext(subscription)
        say(listed=[resource.name for resource in (await client.list_resources()).resources])


if __name__ == "__main__":
    asyncio.run(asyncio.wait_for(listen(*sys.argv[1:]), PATIENCE))

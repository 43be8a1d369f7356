"""A client with the Python SDK that waits for a notification of a change, and prints one line of JSON per step.

Arguments: the endpoint's URL, an API key, and the mode (legacy, or a version). The first line follows the start of
listening. The second line has the list of resources after the notification. TIMEOUT bounds the wait, in seconds.
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

TIMEOUT = 60.0


def print_line(**values: Any) -> None:
    print(json.dumps(values), flush=True)


async def listen(url: str, key: str, mode: str) -> None:
    """Listen for a notification and print the steps."""
    streaming, changed = asyncio.Event(), asyncio.Event()

    async def on_response(response: Response) -> None:
        if response.request.method == "GET" and response.headers["Content-Type"] == "text/event-stream":
            streaming.set()

    async def on_message(message: object) -> None:
        if isinstance(message, ResourceListChangedNotification):
            changed.set()

    async with (
        AsyncClient(
            headers={"Authorization": f"Bearer {key}"}, timeout=TIMEOUT, event_hooks={"response": [on_response]}
        ) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode, message_handler=on_message) as client,
    ):
        if mode == "legacy":
            await streaming.wait()
            print_line(version=client.protocol_version)
            await changed.wait()
        else:
            async with client.listen(resources_list_changed=True, tools_list_changed=True) as subscription:
                assert subscription.honored.tools_list_changed is None
                print_line(version=client.protocol_version)
                await anext(subscription)
        print_line(listed=[resource.name for resource in (await client.list_resources()).resources])


if __name__ == "__main__":
    asyncio.run(asyncio.wait_for(listen(*sys.argv[1:]), TIMEOUT))

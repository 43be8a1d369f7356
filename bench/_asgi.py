"""Servers of streams as others write them, to compare with: `python -m bench._asgi starlette|sdk PORT`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Any

import uvicorn
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.types import ListToolsResult
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route


async def healthz(_: Request) -> Response:
    return PlainTextResponse("ok")


def plain() -> Starlette:
    """Return an application with a queue for each stream, and a comment every 15 seconds."""
    queues: set[asyncio.Queue[bytes]] = set()

    async def frames() -> AsyncIterator[bytes]:
        queue: asyncio.Queue[bytes] = asyncio.Queue(64)
        queues.add(queue)
        try:
            yield b"retry: 3000\n\n"
            while True:
                try:
                    yield await asyncio.wait_for(queue.get(), 15)
                except TimeoutError:
                    yield b": \n\n"
        finally:
            queues.discard(queue)

    async def events(_: Request) -> Response:
        return StreamingResponse(frames(), media_type="text/event-stream")

    async def publish(request: Request) -> Response:
        frame = await request.body()
        for queue in list(queues):
            queue.put_nowait(frame)
        return Response()

    return Starlette(
        routes=[Route("/events", events), Route("/publish", publish, methods=["POST"]), Route("/healthz", healthz)]
    )


def sdk() -> Starlette:
    """Return the SDK's server, a session for each client; publishing tells each that the resources have changed."""
    sessions: list[Any] = []

    async def list_tools(context: ServerRequestContext[Any, Any], _: Any) -> ListToolsResult:
        sessions.append(context.session)
        return ListToolsResult(tools=[])

    async def publish(request: Request) -> Response:
        token = (await request.body()).decode()
        for session in sessions:
            await session.send_log_message(level="info", data=token)
        return Response()

    server: Any = Server("bench", on_list_tools=list_tools)
    extra = [Route("/publish", publish, methods=["POST"]), Route("/healthz", healthz)]
    return server.streamable_http_app(json_response=True, max_sessions=None, custom_starlette_routes=extra)


if __name__ == "__main__":
    kind, port = sys.argv[1:]
    application = sdk() if kind == "sdk" else plain()
    uvicorn.run(application, host="127.0.0.1", port=int(port), log_level="warning", access_log=False, backlog=2048)

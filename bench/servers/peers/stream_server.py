"""Stream servers on Starlette and on the Python SDK: python stream_server.py {starlette,sdk} PORT."""

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


def starlette_app() -> Starlette:
    """Return an application with a queue for each stream and a heartbeat every 15 seconds."""
    queues: set[asyncio.Queue[bytes]] = set()

    async def events() -> AsyncIterator[bytes]:
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

    async def stream(_: Request) -> Response:
        return StreamingResponse(events(), media_type="text/event-stream")

    async def publish(request: Request) -> Response:
        event = await request.body()
        for queue in list(queues):
            queue.put_nowait(event)
        return Response()

    return Starlette(
        routes=[Route("/events", stream), Route("/publish", publish, methods=["POST"]), Route("/healthz", healthz)]
    )


def sdk_app() -> Starlette:
    """Return the SDK's server with a session for each client. Publishing sends a log message to each session."""
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
    app: Starlette = server.streamable_http_app(json_response=True, max_sessions=None, custom_starlette_routes=extra)
    return app


if __name__ == "__main__":
    kind, port = sys.argv[1:]
    application = sdk_app() if kind == "sdk" else starlette_app()
    uvicorn.run(application, host="127.0.0.1", port=int(port), log_level="warning", access_log=False, backlog=2048)

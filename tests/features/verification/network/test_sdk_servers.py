"""Servers of the official Python SDK are found to work, with both transports and in both eras of the protocol."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from directory_server.domain.checks import MAX_TOOLS, RemoteStatus
from directory_server.features.verification.network import RemoteProber, checkers
from directory_server.features.verification.results import FoundTool
from directory_server.runtime.run_sync import inline

from ....contract import awaited

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer


def server(more: int = 0) -> MCPServer:
    """Return a server with a tool, and `more` others."""
    # Each worker collects all tests; the import takes longer than the collection of most folders.
    from mcp.server.mcpserver import MCPServer

    made = MCPServer("weather", version="3.1")

    @made.tool()
    def forecast(city: str) -> str:
        """Tell the weather of a city."""
        raise AssertionError("a check calls no tool")

    for number in range(more):
        made.add_tool(forecast, name=f"forecast_of_region_{number}", description=f"Forecast of region {number}.")
    return made


@contextmanager
def serving(application: Any) -> Iterator[str]:
    """Serve an ASGI application in a thread; yield its origin."""
    import uvicorn

    listening = socket.create_server(("127.0.0.1", 0))
    serving = uvicorn.Server(uvicorn.Config(application, log_level="critical", timeout_graceful_shutdown=1))
    thread = Thread(target=serving.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        serving.should_exit = True
        thread.join()


def without_stateless(application: Any) -> Any:
    """Return the application as a server that knows only the versions with sessions."""

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and (b"mcp-protocol-version", b"2026-07-28") in scope["headers"]:
            await send({"type": "http.response.start", "status": 400, "headers": []})
            await send({"type": "http.response.body", "body": b"Bad Request"})
        else:
            await application(scope, receive, send)

    return answer


@pytest.fixture
def prober() -> RemoteProber:
    from twisted.internet import reactor

    return checkers(reactor, lambda: 1.0, inline, inline, ["127.0.0.1"]).remotes


@pytest.mark.parametrize(
    ("kind", "version"),
    [("modern", "2026-07-28"), ("sessions", "2025-11-25"), ("sessions as JSON", "2025-11-25"), ("sse", "2025-11-25")],
)
@awaited
async def test_a_server_of_the_sdk_works(prober: RemoteProber, kind: str, version: str) -> None:
    made = server()
    if kind == "sse":
        application: Any = made.sse_app()
    else:
        application = made.streamable_http_app(json_response=kind.endswith("JSON"))
        application = application if kind == "modern" else without_stateless(application)
    path, transport = ("sse", "sse") if kind == "sse" else ("mcp", "streamable-http")
    with serving(application) as origin:
        check = await prober.check(f"{origin}/{path}", transport, False)
    assert (check.status, check.protocol_version) == (RemoteStatus.WORKS, version), check.detail
    assert (check.server_name, check.server_version) == ("weather", "3.1")
    (tool,) = check.tools
    assert (tool.name, tool.description) == ("forecast", "Tell the weather of a city.")
    assert isinstance(tool, FoundTool)
    assert '"city"' in tool.input_schema


@awaited
async def test_all_tools_of_a_server_of_the_sdk_are_counted(prober: RemoteProber) -> None:
    with serving(server(more=299).streamable_http_app()) as origin:
        check = await prober.check(f"{origin}/mcp", "streamable-http", False)
    assert (check.status, check.tool_count, check.has_more_tools) == (RemoteStatus.WORKS, 300, False), check.detail
    assert len(check.tools_digest) == 64
    last = check.tools[-1]
    assert last == FoundTool("forecast_of_region_298", digest=last.digest)
    assert last.digest
    assert sum(bool(each.description) for each in check.tools) == MAX_TOOLS

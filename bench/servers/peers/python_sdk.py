"""The official Python SDK with its faster, low-level interface: python python_sdk.py PORT PAGE MODE.

MODE is default, json or stateless.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import mcp_types as types
import uvicorn
from mcp.server.lowlevel import Server

ARGUMENTS = {
    "type": "object",
    "properties": {"keywords": {"type": "string"}, "limit": {"type": "number"}},
    "required": ["keywords"],
}

port, page, mode = int(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text()), sys.argv[3]


async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[types.Tool(name="search_mcp", input_schema=ARGUMENTS)])


async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=json.dumps(page, separators=(",", ":"), ensure_ascii=False))],
        structured_content=page,
    )


server: Server[Any] = Server("peer", on_list_tools=list_tools, on_call_tool=call_tool)
app = server.streamable_http_app(
    json_response=mode != "default", stateless_http=mode == "stateless", max_sessions=None, host="127.0.0.1"
)
uvicorn.run(app, port=port, log_level="warning", access_log=False)

"""FastMCP: python fastmcp_server.py PORT PAGE {default,json,stateless}."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import uvicorn
from fastmcp import FastMCP

port, mode = int(sys.argv[1]), sys.argv[3]
page: dict[str, Any] = json.loads(Path(sys.argv[2]).read_text())

mcp: FastMCP[Any] = FastMCP("peer")


@mcp.tool
async def search_mcp(keywords: str, limit: int = 50) -> dict[str, Any]:
    """Search."""
    return page


app = mcp.http_app(json_response=mode != "default", stateless_http=mode == "stateless")
uvicorn.run(app, port=port, log_level="warning", access_log=False)

"""The methods that both eras have, and what each era puts around their results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from ... import __version__
from ...directory import Directory
from ..gate import Visit
from ._errors import INVALID_PARAMS, RpcError
from ._tools import LISTED, TOOLS, call

SERVER_INFO = {"name": "directory-server", "title": "MCP directory", "version": __version__}

INSTRUCTIONS = (
    "A directory of MCP servers. Use search_mcp to find servers by name or need, then get_mcp_detail with an mcp_id "
    "from the results for how to install or connect to one."
)

CAPABILITIES = {"tools": {"listChanged": False}}


@frozen
class Methods:
    """What a client can ask for, whatever its era."""

    _directory: Directory

    def list_tools(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return all tools; there is one page of them."""
        if params.get("cursor") is not None:
            raise RpcError(INVALID_PARAMS, "cursor: is not one that this server gave; the tools are one page.")
        return {"tools": LISTED}

    async def call_tool(self, params: Mapping[str, Any], visit: Visit, *, unknown_status: int) -> dict[str, Any]:
        """Return the result of the tool that `params` names."""
        name = params.get("name")
        if not isinstance(name, str):
            raise RpcError(INVALID_PARAMS, "params.name: must be a string, the name of a tool.", status=unknown_status)
        if name not in TOOLS:
            raise RpcError(
                INVALID_PARAMS, f"Unknown tool {name[:100]!r}; known are {', '.join(TOOLS)}.", status=unknown_status
            )
        arguments = params.get("arguments", {})
        if not isinstance(arguments, dict):
            raise RpcError(INVALID_PARAMS, "params.arguments: must be an object.", status=unknown_status)
        return await call(TOOLS[name], arguments, self._directory, visit)

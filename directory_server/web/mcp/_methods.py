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
    """What a client can ask for, whatever its era; `refused` is the HTTP status for bad parameters."""

    _directory: Directory
    _refused: int

    def list_tools(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return all tools; there is one page of them."""
        if params.get("cursor") is not None:
            raise self._invalid("cursor: is not one that this server gave; the tools are one page.")
        return {"tools": LISTED}

    async def call_tool(self, params: Mapping[str, Any], visit: Visit) -> dict[str, Any]:
        """Return the result of the tool that `params` names."""
        name = params.get("name")
        if not isinstance(name, str):
            raise self._invalid("params.name: must be a string, the name of a tool.")
        if name not in TOOLS:
            raise self._invalid(f"Unknown tool {name[:100]!r}; known are {', '.join(TOOLS)}.")
        arguments = {} if params.get("arguments") is None else params["arguments"]
        if not isinstance(arguments, dict):
            raise self._invalid("params.arguments: must be an object.")
        return await call(TOOLS[name], arguments, self._directory, visit)

    def _invalid(self, message: str) -> RpcError:
        return RpcError(INVALID_PARAMS, message, status=self._refused)

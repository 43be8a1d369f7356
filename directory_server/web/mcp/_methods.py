"""The methods that both eras have, and what each era puts around their results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from ... import __version__, serialization
from ...domain import errors
from ...services.directory import Directory
from ..authentication import AuthenticatedRequest
from ._errors import INVALID_PARAMS, INVALID_REQUEST, RpcError
from ._resources import TEMPLATES, NewestEntries, entry_of
from ._tools import CLAIMS, LISTED, TOOLS, call

SERVER_INFO = {"name": "directory-server", "title": "MCP directory", "version": __version__}

INSTRUCTIONS = (
    "A directory of MCP servers. Use search_mcp to find servers by name or need, then get_mcp_detail with an mcp_id "
    "from the results for how to install or connect to one. Its resources are the servers that were added last. "
    + CLAIMS
)

CHARGED = frozenset({"tools/call", "resources/read"})
"""The methods that cost a request of the quota."""

CAPABILITIES = {"tools": {"listChanged": False}, "resources": {"listChanged": True}}


@frozen
class Methods:
    """What a client can ask for, whatever its era.

    `refused` is the HTTP status for bad parameters, `absent` the JSON-RPC code for a resource that is not there.
    """

    _directory: Directory
    _newest: NewestEntries
    _refused: int
    _absent: int

    def list_tools(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return all tools."""
        return self._only_page("tools", LISTED, params)

    def list_resources(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the entries that were added last."""
        return self._only_page("resources", self._newest.listed, params)

    def list_templates(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the URIs of all entries look like."""
        return self._only_page("resourceTemplates", TEMPLATES, params)

    async def call_tool(self, params: Mapping[str, Any], visit: AuthenticatedRequest) -> dict[str, Any]:
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

    async def read_resource(self, params: Mapping[str, Any], visit: AuthenticatedRequest) -> dict[str, Any]:
        """Return the entry that `params` names, whole."""
        uri = params.get("uri")
        if not isinstance(uri, str):
            raise self._invalid("params.uri: must be a string, the URI of a resource.")
        mcp_id = entry_of(uri)
        if mcp_id is None:
            raise self._missing(uri)
        try:
            await visit.charge()
            detail = await self._directory.detail(mcp_id)
        except errors.NotFound:
            raise self._missing(uri) from None
        except errors.QuotaExceeded as error:
            # There is no result that says so, as tools have, and no 4xx: editors take that for a wrong login.
            data = {"error": error.code, "retry_after": error.allowance.reset}
            raise RpcError(INVALID_REQUEST, error.message, data=data) from None
        return {
            "contents": [
                {"uri": uri, "mimeType": "application/json", "text": serialization.encode_detail(detail).decode()}
            ]
        }

    def _only_page(self, name: str, items: Any, params: Mapping[str, Any]) -> dict[str, Any]:
        if params.get("cursor") is not None:
            raise self._invalid("cursor: is not one that this server gave; there is one page.")
        return {name: items}

    def _missing(self, uri: str) -> RpcError:
        message = f"There is no resource {uri[:100]!r}; entries are directory://entries/{{mcp_id}}."
        return RpcError(self._absent, message, status=self._refused, data={"uri": uri})

    def _invalid(self, message: str) -> RpcError:
        return RpcError(INVALID_PARAMS, message, status=self._refused)

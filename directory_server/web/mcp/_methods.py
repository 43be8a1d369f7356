"""JSON-RPC methods and resources that the stateful and the stateless protocol share."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from typing import Any

from attrs import frozen

from ... import __version__, serialization
from ...domain import errors
from ...domain.changes import Change
from ...domain.entries import Entry
from ...domain.errors import BadInput
from ...domain.ports.storage import Store
from ...domain.withholding import shown_hit
from ...services.catalogue import Catalogue
from ..authentication import AuthenticatedRequest
from ._errors import INVALID_PARAMS, INVALID_REQUEST, RpcError
from ._tools import ToolSet, call

SERVER_INFO = {"name": "directory-server", "title": "MCP directory", "version": __version__}

CHARGED = frozenset({"tools/call", "resources/read"})
"""The methods that cost one request of the quota."""

CAPABILITIES = {"tools": {"listChanged": False}, "resources": {"listChanged": True}}


@frozen
class Methods:
    """Handlers of the shared methods.

    `error_status` is the HTTP status for invalid parameters, `missing_code` the JSON-RPC code for a resource that does
    not exist. `tools` are the offered tools.
    """

    _catalogue: Catalogue
    _newest: NewestEntries
    _error_status: int
    _missing_code: int
    _tools: ToolSet

    @property
    def instructions(self) -> str:
        """The instructions for models."""
        return self._tools.instructions

    def list_tools(self, params: Mapping[str, Any]) -> dict[str, Any]:
        return self._only_page("tools", self._tools.listed, params)

    async def list_resources(self, params: Mapping[str, Any], authenticated: AuthenticatedRequest) -> dict[str, Any]:
        """Return the most recently published entries."""
        listed = self._newest.listed
        if self._catalogue.scope_of(authenticated.request) is not None:
            listed = await newest_resources(self._catalogue.of(authenticated.request).store)
        return self._only_page("resources", listed, params)

    def list_templates(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the URI template of entries."""
        return self._only_page("resourceTemplates", TEMPLATES, params)

    def call_tool(self, params: Mapping[str, Any], authenticated: AuthenticatedRequest) -> Coroutine[Any, Any, bytes]:
        """Call the tool that `params` names and return its encoded result. Raises RpcError at once."""
        name = params.get("name")
        if not isinstance(name, str):
            raise self._invalid("params.name: must be a string, the name of a tool.")
        tool = self._tools.by_name.get(name)
        if tool is None:
            allowed = ", ".join(self._tools.by_name)
            raise self._invalid(f"params.name: unknown tool {name[:100]!r}; must be one of {allowed}.")
        arguments = {} if params.get("arguments") is None else params["arguments"]
        if not isinstance(arguments, dict):
            raise self._invalid("params.arguments: must be an object.")
        return call(tool, arguments, self._catalogue.of(authenticated.request), authenticated)

    async def read_resource(self, params: Mapping[str, Any], authenticated: AuthenticatedRequest) -> dict[str, Any]:
        """Return the complete entry that `params` names."""
        uri = params.get("uri")
        if not isinstance(uri, str):
            raise self._invalid("params.uri: must be a string, the URI of a resource.")
        mcp_id = mcp_id_from_uri(uri)
        if mcp_id is None:
            raise self._missing(uri)
        try:
            await authenticated.charge()
            detail = await self._catalogue.of(authenticated.request).detail(
                mcp_id, authenticated.key.client_id, only_servers=True
            )
        except errors.NotFound:
            raise self._missing(uri) from None
        except errors.QuotaExceeded as error:
            # Resources have no error result as tools do, and editors report a 4xx as a failed login.
            data = {"error": error.code, "retry_after": error.allowance.reset}
            raise RpcError(INVALID_REQUEST, error.message, data=data) from None
        return {
            "contents": [
                {"uri": uri, "mimeType": "application/json", "text": serialization.encode_detail(detail).decode()}
            ]
        }

    def _only_page(self, name: str, items: Any, params: Mapping[str, Any]) -> dict[str, Any]:
        if params.get("cursor") is not None:
            raise self._invalid("params.cursor: unknown cursor; the list has only one page.")
        return {name: items}

    def _missing(self, uri: str) -> RpcError:
        message = f"Unknown resource {uri[:100]!r}; the URI must be directory://entries/{{mcp_id}}."
        return RpcError(self._missing_code, message, status=self._error_status, data={"uri": uri})

    def _invalid(self, message: str) -> RpcError:
        return RpcError(INVALID_PARAMS, message, status=self._error_status)


NEWEST = 20
"""Maximum entries in the list."""

SCHEME = "directory://entries/"
"""Prefix of an entry's URI; the mcp_id follows."""

TEMPLATES = [
    {
        "uriTemplate": SCHEME + "{mcp_id}",
        "name": "entry",
        "title": "MCP server",
        "description": "The complete entry of one MCP server, by the mcp_id from a search_mcp result.",
        "mimeType": "application/json",
    }
]


class NewestEntries:
    """Subscriber that rebuilds the list of the most recently published entries at each change."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.listed = serialization.raw(b"[]")
        """The list, encoded."""

    async def apply(self, changes: Sequence[Change]) -> None:
        self.listed = await newest_resources(self._store)


async def newest_resources(store: Store) -> Any:
    """Return the most recently published entries of `store` as a list of resources, encoded."""
    return serialization.raw(serialization.encode(await store.newest(NEWEST, _resource)))


def mcp_id_from_uri(uri: str) -> str | None:
    """Return the mcp_id in the URI of an entry, None if it is not such a URI."""
    if not uri.startswith(SCHEME):
        return None
    try:
        return serialization.entry_id(uri.removeprefix(SCHEME))
    except BadInput:
        return None


def _resource(entry: Entry) -> dict[str, Any]:
    hit = shown_hit(entry)
    return {
        "uri": SCHEME + hit.mcp_id,
        "name": hit.server_name,
        "title": hit.name,
        "description": hit.brief,
        "mimeType": "application/json",
    }

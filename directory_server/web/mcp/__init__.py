"""The MCP endpoint: JSON-RPC by POST for stateful and stateless protocol versions, event streams by GET."""

from ._endpoint import PATH, McpEndpoint, endpoint, rpc_body
from ._notifications import Announcements
from ._resources import NewestEntries
from ._stateful import McpSessions
from ._tools import tool_text

__all__ = ["PATH", "Announcements", "McpEndpoint", "McpSessions", "NewestEntries", "endpoint", "rpc_body", "tool_text"]

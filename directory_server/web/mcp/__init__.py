"""The MCP door: JSON-RPC by POST in both eras of the protocol, events by GET."""

from ._announcements import Announcements
from ._endpoint import PATH, McpEndpoint, endpoint, rpc_body
from ._resources import NewestEntries
from ._sessions import McpSessions

__all__ = ["PATH", "Announcements", "McpEndpoint", "McpSessions", "NewestEntries", "endpoint", "rpc_body"]

"""The MCP door: JSON-RPC by POST in both eras of the protocol, events by GET."""

from ._announcements import Announcements
from ._endpoint import PATH, Mcp, endpoint, rpc_body
from ._resources import Newest
from ._sessions import Sessions

__all__ = ["PATH", "Announcements", "Mcp", "Newest", "Sessions", "endpoint", "rpc_body"]

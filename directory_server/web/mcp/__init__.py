"""The MCP endpoint: JSON-RPC by POST for stateful and stateless protocol versions, event streams by GET."""

from ._endpoint import PATH, McpEndpoint, endpoint
from ._methods import SERVER_INFO, NewestEntries
from ._notifications import Announcements
from ._stateful import VERSIONS as STATEFUL_VERSIONS
from ._stateful import McpSessions
from ._stateless import VERSIONS as STATELESS_VERSIONS
from ._tools import TOOL_NAMES, tool_text

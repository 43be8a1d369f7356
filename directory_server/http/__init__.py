"""The HTTP/1.1 server: sockets, request parsing, connections with time limits, and requests.

`_sockets` shares a TCP port between processes, writes to the socket at once, and waits when no descriptor is free.
`_parser` parses requests strictly, with size limits. `_connection` answers the requests of one connection in order.
`_output` queues responses for slow clients. `_connections` limits the open connections and closes them when the server
stops. `_request` is the request that handlers receive.
"""

from ._connection import Connection
from ._connections import Connections, Rejected
from ._parser import MAX_BODY, Message
from ._request import Request, status_line
from ._sockets import ImmediateWriteServer, PreparedEndpoint, ReusePortReactor, pause_without_descriptors

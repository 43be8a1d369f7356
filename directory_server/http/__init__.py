"""The edge: everything between the socket and the tree of paths.

`_shared` listens where other processes listen, too; `_eager` sends at once; `_parser` takes requests out of bytes,
strictly and within bounds; `_connection` has them answered in order and watches the time; `_connections` bounds how
many there are and ends them; `_request` is what the tree sees of one; `_origins` says who may ask; `_site` puts these
together.
"""

from ._connection import Connection
from ._connections import Connections
from ._immediate_write import ImmediateWriteEndpoint, ImmediateWriteServer
from ._parser import Message
from ._request import Request, status_line
from ._reuse_port import ReusePortReactor

__all__ = [
    "Connection",
    "Connections",
    "ImmediateWriteEndpoint",
    "ImmediateWriteServer",
    "Message",
    "Request",
    "ReusePortReactor",
    "status_line",
]

"""The edge: everything between the socket and the tree of paths.

`_shared` listens where other processes listen, too; `_eager` sends at once; `_parser` takes requests out of bytes,
strictly and within bounds; `_connection` has them answered in order and watches the time; `_connections` bounds how
many there are and ends them; `_request` is what the tree sees of one; `_origins` says who may ask; `_site` puts these
together.
"""

from ._connection import Connection
from ._connections import Connections
from ._eager import Eager, EagerServer
from ._origins import Origins
from ._shared import SharedPorts
from ._site import DirectorySite

__all__ = ["Connection", "Connections", "DirectorySite", "Eager", "EagerServer", "Origins", "SharedPorts"]

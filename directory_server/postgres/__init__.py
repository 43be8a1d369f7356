"""PostgreSQL adapters of the ports, for processes of one or several machines. Needs the extra `cluster`."""

from ._attempts import PostgresAttempts
from ._change_bus import PostgresBus
from ._checks import check_connection, place, upgrade
from ._clock import DatabaseClock
from ._connection import Cursor
from ._database import Database
from ._import import import_data
from ._key_cache import PostgresKeyCache
from ._last_read import LastRead
from ._link import Link, Statements
from ._nodes import REPORT_INTERVAL, Node, NodeReports, running_nodes
from ._pulse import Pulse
from ._quota import TRIAL, PostgresQuota
from ._restore import after_restore
from ._shared import session_secret
from ._store import PostgresStore
from ._tables import PostgresTables
from ._upkeep import UPKEEP_INTERVAL, Task, Upkeep
from ._watchdog import Watchdog

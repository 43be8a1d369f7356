"""PostgreSQL adapters of the ports, for processes of one or several machines. Needs the extra `cluster`."""

from ._attempts import PostgresAttempts
from ._backup import check_dump, dump_database, load_dump
from ._change_bus import DatabaseClock, PostgresBus
from ._connection import Cursor
from ._database import Database
from ._import import after_restore, import_data, session_secret
from ._pulse import Pulse
from ._quota import TRIAL, PostgresQuota
from ._reachability import Watchdog, check_connection, check_schema, place, upgrade
from ._session import Session
from ._statements import Statements, Trial
from ._store import LastRead, postgres_store, prune_analyses
from ._tables import PostgresKeyCache, PostgresTables
from ._upkeep import REPORT_INTERVAL, UPKEEP_INTERVAL, Node, Task, end_abandoned, report_node, run_due, running_nodes

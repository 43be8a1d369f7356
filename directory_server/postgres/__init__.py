"""PostgreSQL adapters of the ports, for processes of one or several machines. Needs the extra `cluster`."""

from ._connection import Cursor
from ._curation import PostgresCuration
from ._database import Database
from ._link import Link, Statements
from ._mirrors import PostgresMirrors
from ._quota import PostgresQuota
from ._store import PostgresStore

__all__ = [
    "Cursor",
    "Database",
    "Link",
    "PostgresCuration",
    "PostgresMirrors",
    "PostgresQuota",
    "PostgresStore",
    "Statements",
]

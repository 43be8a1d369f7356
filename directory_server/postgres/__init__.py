"""PostgreSQL adapters of the ports, for processes of one or several machines. Needs the extra `cluster`."""

from ._connection import Cursor
from ._database import Database

__all__ = ["Cursor", "Database"]

"""SQLite adapters of the ports, for one or several processes of one machine."""

from ._backup import check_database, copy_database
from ._data_directory import DataDirectory, StorageWatch, session_secret
from ._database import Database
from ._export import export
from ._quota import SqliteQuota, quota_clock
from ._restore import after_restore
from ._store import DataVersionBus, sqlite_store
from ._tables import SeparateTables, SqliteKeyCache, SqliteTables

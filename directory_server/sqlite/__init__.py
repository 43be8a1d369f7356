"""SQLite adapters of the ports, for one or several processes of one machine."""

from ._change_bus import DataVersionBus
from ._data_directory import DataDirectory, StorageWatch, session_secret
from ._database import Database
from ._export import export
from ._key_cache import SqliteKeyCache
from ._quota import SqliteQuota
from ._quota_clock import quota_clock
from ._restore import after_restore
from ._separate_tables import SeparateTables
from ._store import SqliteStore
from ._tables import SqliteTables

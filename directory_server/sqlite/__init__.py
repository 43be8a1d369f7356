"""SQLite adapters of the ports, for one or several processes of one machine."""

from ._change_bus import DataVersionBus
from ._data_directory import DataDirectory, StorageWatch, session_secret
from ._database import Database
from ._export import Export, ExportedTable, export
from ._key_uses import SqliteKeyUses
from ._keyring import SqliteKeyRing
from ._quota import SqliteQuota
from ._quota_clock import quota_clock
from ._restore import after_restore
from ._roster import SqliteRoster
from ._separate_tables import SeparateTables
from ._sessions import SqliteNewSecrets
from ._store import SqliteStore
from ._tables import SqliteTables
from ._visibility import SqliteCuration

__all__ = [
    "DataDirectory",
    "DataVersionBus",
    "Database",
    "Export",
    "ExportedTable",
    "SeparateTables",
    "SqliteCuration",
    "SqliteKeyRing",
    "SqliteKeyUses",
    "SqliteNewSecrets",
    "SqliteQuota",
    "SqliteRoster",
    "SqliteStore",
    "SqliteTables",
    "StorageWatch",
    "after_restore",
    "export",
    "quota_clock",
    "session_secret",
]

"""The ports on one machine: SQLite, for one process or several."""

from ._accounts import SqliteAccounts
from ._anchor import MachineTime, quota_clock
from ._bus import DataVersionBus
from ._clock import anchored
from ._curation import SqliteCuration
from ._data import DataDirectory
from ._database import Database
from ._inline import finished, inline
from ._keyring import SqliteKeyRing
from ._mirrors import SqliteMirrors
from ._new_secrets import SqliteNewSecrets
from ._passwords import Argon2Passwords
from ._publishing import SourceLimits
from ._quota import SqliteQuota
from ._registry_tokens import SqliteRegistryTokens
from ._restore import Restored, after_restore
from ._secret import session_secret
from ._sessions import SqliteSessions
from ._store import SqliteStore
from ._threads import Threads
from ._watch import StorageWatch

__all__ = [
    "Argon2Passwords",
    "DataDirectory",
    "DataVersionBus",
    "Database",
    "MachineTime",
    "Restored",
    "SourceLimits",
    "SqliteAccounts",
    "SqliteCuration",
    "SqliteKeyRing",
    "SqliteMirrors",
    "SqliteNewSecrets",
    "SqliteQuota",
    "SqliteRegistryTokens",
    "SqliteSessions",
    "SqliteStore",
    "StorageWatch",
    "Threads",
    "after_restore",
    "anchored",
    "finished",
    "inline",
    "quota_clock",
    "session_secret",
]

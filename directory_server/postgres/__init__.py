"""PostgreSQL adapters of the ports, for processes of one or several machines. Needs the extra `cluster`."""

from ._accounts import PostgresAccounts
from ._attempts import PostgresAttempts
from ._change_bus import PostgresBus
from ._connection import Cursor
from ._curation import PostgresCuration
from ._database import Database
from ._import import import_data
from ._keyring import PostgresKeyRing
from ._link import Link, Statements
from ._mirrors import PostgresMirrors
from ._new_secrets import PostgresNewSecrets
from ._pulse import Pulse
from ._quota import PostgresQuota
from ._registry_tokens import PostgresRegistryTokens
from ._sessions import PostgresSessions
from ._shared import session_secret
from ._store import PostgresStore

__all__ = [
    "Cursor",
    "Database",
    "Link",
    "PostgresAccounts",
    "PostgresAttempts",
    "PostgresBus",
    "PostgresCuration",
    "PostgresKeyRing",
    "PostgresMirrors",
    "PostgresNewSecrets",
    "PostgresQuota",
    "PostgresRegistryTokens",
    "PostgresSessions",
    "PostgresStore",
    "Pulse",
    "Statements",
    "import_data",
    "session_secret",
]

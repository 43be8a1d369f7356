"""Adapters of ports on the rows of a database, written once for SQLite and PostgreSQL."""

from ._accounts import StoredAccounts
from ._change_log import Document
from ._dialects import input_columns, postgres_statement, sqlite_statement
from ._entries import StoredEntries
from ._key_uses import StoredKeyUses
from ._keyring import FIND_KEY, NoCache, StoredKeyRing, found_key
from ._mirrors import StoredMirrors
from ._new_secrets import StoredNewSecrets
from ._publishers import StoredPublicationLog, StoredPublisherTokens
from ._registry_tokens import StoredRegistryTokens
from ._roster import StoredRoster
from ._sessions import StoredSessions
from ._tables import Row, Rows, Statement, Tables
from ._verifications import StoredVerifications

__all__ = [
    "FIND_KEY",
    "Document",
    "NoCache",
    "Row",
    "Rows",
    "Statement",
    "StoredAccounts",
    "StoredEntries",
    "StoredKeyRing",
    "StoredKeyUses",
    "StoredMirrors",
    "StoredNewSecrets",
    "StoredPublicationLog",
    "StoredPublisherTokens",
    "StoredRegistryTokens",
    "StoredRoster",
    "StoredSessions",
    "StoredVerifications",
    "Tables",
    "found_key",
    "input_columns",
    "postgres_statement",
    "sqlite_statement",
]

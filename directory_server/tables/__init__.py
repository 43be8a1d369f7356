"""Adapters of ports on the rows of a database, written once for SQLite and PostgreSQL."""

from ._accounts import COLUMNS as ACCOUNT_COLUMNS
from ._accounts import StoredAccounts
from ._dialects import input_columns, postgres_statement, sqlite_statement
from ._mirrors import StoredMirrors
from ._publishers import StoredPublicationLog, StoredPublisherTokens
from ._registry_tokens import StoredRegistryTokens
from ._sessions import StoredSessions
from ._tables import Row, Rows, Statement, Tables
from ._verifications import StoredVerifications

__all__ = [
    "ACCOUNT_COLUMNS",
    "Row",
    "Rows",
    "Statement",
    "StoredAccounts",
    "StoredMirrors",
    "StoredPublicationLog",
    "StoredPublisherTokens",
    "StoredRegistryTokens",
    "StoredSessions",
    "StoredVerifications",
    "Tables",
    "input_columns",
    "postgres_statement",
    "sqlite_statement",
]

"""Adapters of ports on the rows of a database, written once for SQLite and PostgreSQL."""

from ._dialects import postgres_statement, sqlite_statement
from ._publishers import StoredPublicationLog, StoredPublisherTokens
from ._registry_tokens import StoredRegistryTokens
from ._tables import Row, Rows, Statement, Tables

__all__ = [
    "Row",
    "Rows",
    "Statement",
    "StoredPublicationLog",
    "StoredPublisherTokens",
    "StoredRegistryTokens",
    "Tables",
    "postgres_statement",
    "sqlite_statement",
]

"""Everything that a data directory stores, as rows of tables, for another database."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from attrs import frozen

from ..domain.errors import BadInput
from ._data_directory import DataDirectory
from ._database import Database

# Tables after those that they refer to. Columns have the names that the tables have in other databases. Leases are left
# out: they end within minutes, by the clock of this machine.
_DIRECTORY = {
    "record": """
        SELECT id, id AS written, name, source, version, latest, deleted, published_at, fingerprint, body, created_at,
            updated_at
        FROM record ORDER BY id
    """,
    "analysed": """
        SELECT fingerprint, analysis AS version, min(analysed) AS body FROM record
        WHERE analysis IS NOT NULL AND analysed IS NOT NULL
        GROUP BY fingerprint, analysis ORDER BY fingerprint, analysis
    """,
    "entry": """
        SELECT mcp_id, name, visible_id, preferred_id, seq, updated_at, hidden, pinned, allowed,
            curated, rule
        FROM entry ORDER BY mcp_id
    """,
    "change": "SELECT seq, kind, mcp_id, total, at, cause FROM change ORDER BY seq",
    "log": "SELECT id FROM log ORDER BY id",
    "account": """
        SELECT id, rowid AS ordinal, email, password, created_at, disabled_at, approved_at, seen_at, role, key_limit
        FROM account ORDER BY id
    """,
    "identity": """
        SELECT digest, account, issuer, groups, created_at, signed_in_at FROM identity ORDER BY digest
    """,
    "link": "SELECT account, digest, expires_at FROM link ORDER BY account",
    "session": "SELECT digest, account, created_at, seen_at, network, client FROM session ORDER BY digest",
    "api_key": """
        SELECT id, rowid AS ordinal, label, quota, created_at, expires_at, revoked_at, owner, is_subject
        FROM api_key ORDER BY id
    """,
    "key_use": "SELECT key_id, at, network, client FROM key_use ORDER BY key_id",
    "secret": "SELECT digest, key_id, last_four, created_at, expires_at FROM secret ORDER BY digest",
    "new_secret": """
        SELECT session, key_id, salt, sealed, rotated, expires_at FROM new_secret ORDER BY session, key_id
    """,
    "registry_token": """
        SELECT id, rowid AS ordinal, label, last_four, digest, created_at, revoked_at FROM registry_token ORDER BY id
    """,
    "report": """
        SELECT id, rowid AS ordinal, mcp_id, server_name, version, reason, text, reported_at, closed_at
        FROM report ORDER BY id
    """,
    "publisher_token": """
        SELECT id, rowid AS ordinal, label, namespaces, last_four, digest, created_at, expires_at, revoked_at, login
        FROM publisher_token ORDER BY id
    """,
    "quota_request": """
        SELECT account, wanted, reason, requested_at, decided_at, granted FROM quota_request ORDER BY account
    """,
    "webhook": """
        SELECT id, label, url, kinds, namespaces, keywords, created_at, seq, pending, was_reset, failures,
            failing_since, next_at, delivered_at, error, salt, sealed, shown_until, previous_salt, previous_sealed,
            previous_until
        FROM webhook ORDER BY id
    """,
    "webhook_delivery": """
        SELECT number, webhook, at, message, seq, changes, status, error, seconds FROM webhook_delivery ORDER BY number
    """,
    "namespace_proof": "SELECT namespace, kind, subject, proven_at FROM namespace_proof ORDER BY namespace, kind",
    "publication": """
        SELECT number, at, token_id, label, action, name, version, network, outcome FROM publication ORDER BY number
    """,
    "audit": """
        SELECT number, hash, at, subject_kind, subject_id, subject_name, key_id, network, action, target, before, after,
            request_id, outcome
        FROM audit ORDER BY number
    """,
    "audit_begun": "SELECT id, at, event FROM audit_begun ORDER BY id",
    "audit_checkpoint": "SELECT number, hash, is_base, signature FROM audit_checkpoint ORDER BY number",
    "upstream": """
        SELECT name, selection, last_run, last_success, next_run, replace(error, char(0), '') AS error, failures,
            entries, updated_since, etag, modified, full_sync_names, full_sync_at, progress_full, progress_began,
            progress_cursor
        FROM upstream ORDER BY name
    """,
    "sync_run": """
        SELECT id, upstream, started_at, ended_at, is_full, entries, added, changed, removed, rejected, error, note
        FROM sync_run ORDER BY id
    """,
    "seen": "SELECT upstream, name, accepted FROM seen ORDER BY upstream, name",
    "package_texts": "SELECT id, body FROM package_texts ORDER BY id",
    "target": "SELECT id, mcp_id, kind, host, body, due_at, state, texts FROM target ORDER BY id",
    "verification": "SELECT mcp_id, revision, summary, indexed, texts FROM verification ORDER BY mcp_id",
    "verification_plan": "SELECT id, seq, selection FROM verification_plan",
    "entry_flag": "SELECT mcp_id, kind, other, reason, since FROM entry_flag ORDER BY mcp_id, kind, other",
    "accepted_marks": "SELECT mcp_id, accepted FROM accepted_marks ORDER BY mcp_id",
    "applied_policy": "SELECT id, rules FROM applied_policy",
    "advisory": "SELECT package, id, body FROM advisory ORDER BY package, id",
    "advisory_reading": "SELECT id, read_at, signature FROM advisory_reading",
    "embedding_model": """
        SELECT model, log, seq, is_complete, revision, removed, '' AS holder, 0.0 AS until
        FROM embedding_model ORDER BY model
    """,
    "embedding": "SELECT model, mcp_id, revision, digest, vector FROM embedding ORDER BY model, mcp_id",
}
"""Tables of the directory database, and their rows in the order of their keys."""

_QUOTA = {"spent": "SELECT key, at, n FROM spent ORDER BY key, at, n"}
"""Tables of the quota database."""

_STATISTICS = {
    "statistic_count": "SELECT day, kind, name, total, failed FROM statistic_count ORDER BY day, kind, name",
    "statistic_query": "SELECT day, text, total, failed FROM statistic_query ORDER BY day, text",
}
"""Tables of the statistics database, which may be absent."""

_STORED = "SELECT source, names, bytes FROM stored WHERE names > 0 ORDER BY source"


@frozen
class ExportedTable:
    """A table: its name, columns, and the number of leading columns that identify a row and order the rows."""

    name: str
    columns: Sequence[str]
    key: int
    _connection: sqlite3.Connection
    _query: str

    def rows(self) -> Iterator[tuple[object, ...]]:
        """Return the rows in order. Truth values are 0 or 1. Each call starts again."""
        return self._connection.execute(self._query)


@frozen
class Export:
    """The content of a data directory at one moment; `stored` has the names and bytes of each source."""

    tables: Sequence[ExportedTable]
    stored: Sequence[tuple[str, int, int]]
    session_secret: bytes


_KEYS = {
    "analysed": 2,
    "new_secret": 2,
    "seen": 2,
    "embedding": 2,
    "spent": 3,
    "statistic_count": 3,
    "statistic_query": 2,
}
"""The number of columns of keys that have more than one."""


@contextmanager
def export(folder: Path) -> Iterator[Export]:
    """Return the content of the data directory `folder` as a context manager; its files are open until the end.

    Files of an older version are upgraded first. Raises BadInput if `folder` is not a data directory, and Unavailable.
    """
    if not (folder / "directory.db").is_file():
        raise BadInput(f"{folder} is not a data directory: it has no file directory.db.")
    data = DataDirectory(folder)
    try:
        secret = data.session_secret()
        with data.directory.snapshot() as directory, data.quota.snapshot() as quota:
            # The first statements of both transactions, so that all others read the same moment.
            stored = directory.execute(_STORED).fetchall()
            quota.execute("SELECT count(*) FROM sqlite_schema").fetchone()
            queries = [(directory, *each) for each in _DIRECTORY.items()] + [(quota, *each) for each in _QUOTA.items()]
            with _statistics(folder) as statistics:
                queries += [(statistics, *each) for each in _STATISTICS.items() if statistics is not None]
                yield Export([_table(*query) for query in queries], stored, secret)
    finally:
        data.close()


@contextmanager
def _statistics(folder: Path) -> Iterator[sqlite3.Connection | None]:
    """Return a snapshot of the statistics of `folder` as a context manager, None if there are none."""
    if not (folder / "statistics.db").is_file():
        yield None
        return
    with closing(Database(folder, "statistics")) as database, database.snapshot() as connection:
        yield connection


def _table(connection: sqlite3.Connection, name: str, query: str) -> ExportedTable:
    columns = [column[0] for column in connection.execute(query).description]
    return ExportedTable(name, columns, _KEYS.get(name, 1), connection, query)

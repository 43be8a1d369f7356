"""The Store on PostgreSQL, and the last change of the log that this process has read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import define

from ..domain.ports.runtime import Offload
from ..domain.ports.search import Analysis
from ..domain.publishing import SourceLimits
from ..tables import Engine, StoredEntries
from ._connection import Cursor
from ._database import Database
from ._statements import Statements
from ._tables import PostgresTables


@define
class LastRead:
    """The last change that this process has read, and its random mark; before the first, 0 and None.

    Only for the reactor's thread.
    """

    seq: int = 0
    mark: int | None = None

    def record(self, seq: int, mark: int | None) -> None:
        if mark is not None and seq > self.seq:
            self.seq, self.mark = seq, mark


ENGINE = Engine(
    # So that the statements that refer to new rows need not wait for the one that adds them.
    new_ids="""
        SELECT nextval(pg_get_serial_sequence('record', 'id')) FROM generate_series(1, CAST(:count AS integer))
    """,
    keeps_ids=True,
    # In the order of fingerprints, so that two transactions cannot wait for each other.
    store_analyses="""
        INSERT INTO analysed (fingerprint, version, body)
        SELECT fingerprint, CAST(:version AS text), body FROM input(record_id bigint, fingerprint bytea, body bytea)
        ON CONFLICT DO NOTHING
    """,
    known_analyses="SELECT fingerprint FROM analysed WHERE version = :version AND fingerprint = ANY(:fingerprints)",
    # The planner knows less than a tenth of the entries, as in the first import. Autovacuum comes a minute later.
    is_stale="""
        SELECT names > 1000 AND names > 10 * greatest(reltuples, 0)
        FROM (SELECT sum(names) AS names FROM stored) AS all_sources, pg_class WHERE oid = 'record'::regclass
    """,
    update_statistics="ANALYZE record, entry, change, analysed, stored",
    batch=500,
    batch_bytes=8_000_000,
)

# Of documents that were replaced or deleted, and of versions of the analysis that no process uses. A process whose
# version is unknown may use any.
_PRUNE = (
    "DELETE FROM analysed WHERE NOT EXISTS (SELECT 1 FROM record WHERE record.fingerprint = analysed.fingerprint)",
    """
        DELETE FROM analysed WHERE version <> $1 AND NOT EXISTS (
            SELECT 1 FROM node WHERE node.analysis IS NULL OR node.analysis = analysed.version
        )
    """,
)


def postgres_store(
    database: Database,
    offload: Offload,
    analysis: Analysis,
    sources: Sequence[str] = (),
    limits: Mapping[str, SourceLimits] = {},
    reads: Statements | None = None,
    last_read: LastRead | None = None,
) -> StoredEntries:
    """Return the entries and their change log in the database.

    Results of the analysis are stored by the fingerprint of the document and the version of the analysis, so two
    versions of the software do not overwrite each other's. `reads` runs short queries that requests wait for; by
    default in a thread. `last_read` gets the changes that are read.
    """
    tables, record = PostgresTables(database, reads), (last_read or LastRead()).record
    return StoredEntries(tables, offload, analysis, ENGINE, sources, limits, record)


async def prune_analyses(database: Database, version: str) -> None:
    """Delete the analyses of documents that are no longer stored, and those that no process reads.

    `version` is that of this process. Raises Unavailable.
    """
    gone, unused = _PRUNE

    def write(cursor: Cursor) -> None:
        cursor.execute(gone)
        cursor.execute(unused, (version,))

    await database.write(write)

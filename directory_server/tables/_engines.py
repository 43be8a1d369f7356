"""What differs between the databases where entries are stored."""

from __future__ import annotations

from attrs import frozen


@frozen
class Engine:
    """What differs between the databases: statements, and the size of a transaction.

    `new_ids` returns `:count` ids for new records. If not `keeps_ids`, a record that is written again gets a new one.
    `store_analyses` stores analyses for the version `:version`, and `known_analyses`, if there is one, returns which of
    `:fingerprints` have an analysis of it. `is_stale` returns whether the planner should be told about new rows.
    A transaction has at most `batch` records, unless one name has more, and ends after `batch_bytes` of documents.
    """

    new_ids: str
    keeps_ids: bool
    store_analyses: str
    known_analyses: str | None
    is_stale: str | None
    batch: int
    batch_bytes: int

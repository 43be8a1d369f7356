"""Results of moving stored data: a restored backup, and a data directory that was imported into a database."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from attrs import frozen


@frozen
class ExportedTable:
    """A table: its name, columns, and the number of leading columns that identify a row and order the rows.

    `rows` returns the rows in order. Truth values are 0 or 1. Each call starts again.
    """

    name: str
    columns: Sequence[str]
    key: int
    rows: Callable[[], Iterator[tuple[object, ...]]]


@frozen
class Export:
    """The content of a data directory at one moment: tables after those that they refer to.

    `stored` has the names and bytes of each source.
    """

    tables: Sequence[ExportedTable]
    stored: Sequence[tuple[str, int, int]]
    session_secret: bytes


@frozen
class Restored:
    """Changes to a restored backup: descriptions of keys, tokens and accounts for the operator, by id.

    `sessions` and `links` ended, and `valid_keys` are valid now. The other fields come from a newer database, if there
    is one. `unknown_keys` were created after the backup and are not in it.
    """

    sessions: int
    links: int
    valid_keys: Sequence[tuple[str, str]]
    revoked_keys: Sequence[tuple[str, str]] = ()
    revoked_tokens: Sequence[tuple[str, str]] = ()
    disabled_accounts: Sequence[tuple[str, str]] = ()
    retired_secrets: int = 0
    passwords: int = 0
    unknown_keys: Sequence[tuple[str, str]] = ()


@frozen
class Imported:
    """The number of rows of each table, and a line for each text that was changed to be stored."""

    rows: Mapping[str, int]
    replaced: Sequence[str]

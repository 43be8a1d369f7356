"""Results of moving stored data: a restored backup, and a data directory that was imported into a database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen


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

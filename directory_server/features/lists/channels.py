"""Channels: aliases of versions of entries on a list, such as `production`, which readers get until it is moved."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attrs import frozen

from ...domain.entries import check_name, is_storable, mcp_id_of
from ...domain.errors import BadInput, NotFound
from ...domain.scopes import unknown_list
from ...domain.versions import LATEST
from ...tables import PUBLISHERS, Rows, Tables, log_changes, mark_updated, transaction

MAX_CHANNELS = 2_000
"""Channels of a list."""

_ALIAS = re.compile(r"[a-z][a-z0-9-]{0,29}")

_LIST = "SELECT is_all OR holds_versions FROM entry_list WHERE name = :list"

_IS_STORED = """
    SELECT 1 FROM entry INNER JOIN record AS preferred ON preferred.id = preferred_id
    INNER JOIN record ON record.name = entry.name AND record.source = preferred.source
    WHERE entry.name = :name AND record.version = :version AND NOT record.deleted
"""

_COUNT = "SELECT count(*) FROM list_channel WHERE list = :list"

_SET = """
    INSERT INTO list_channel (list, name, alias, version) VALUES (:list, :name, :alias, :version)
    ON CONFLICT (list, name, alias) DO UPDATE SET version = excluded.version
"""

_REMOVE = "DELETE FROM list_channel WHERE list = :list AND name = :name AND alias = :alias"

_CHANNELS = "SELECT name, alias, version FROM list_channel WHERE list = :list ORDER BY name, alias LIMIT :limit"


@frozen
class Channel:
    """The `version` of the entry `name` that an `alias` means on a list."""

    name: str
    alias: str
    version: str


@frozen
class Channels:
    """The channels of lists. All methods raise Unavailable."""

    _tables: Tables

    async def list(self, list_name: str, limit: int = MAX_CHANNELS) -> Sequence[Channel]:
        return [Channel(*row) for row in await self._tables.select(_CHANNELS, list=list_name, limit=limit)]

    @transaction
    def pin(self, rows: Rows, list_name: str, name: str, version: str, alias: str) -> None:
        """Let an alias mean a stored version of an entry on a list. Raises BadInput and NotFound."""
        check_name(name)
        if not _ALIAS.fullmatch(alias) or alias == LATEST.version:
            raise BadInput(
                "alias: must have 1 to 30 lower-case letters, digits and hyphens, begin with a letter, and not be "
                "'latest'.",
                code="alias_wrong",
            )
        rows.lock(PUBLISHERS)
        row = rows.one(_LIST, list=list_name)
        if row is None:
            raise unknown_list(list_name)
        if row[0]:
            raise BadInput("A list of all entries, and one that holds versions, has no channels.", code="no_channels")
        if not is_storable(version) or rows.one(_IS_STORED, name=name, version=version) is None:
            raise BadInput(f"version: {name!r} has no version {version[:100]!r}.", code="version_unknown")
        if rows.one(_COUNT, list=list_name)[0] >= MAX_CHANNELS:
            raise BadInput(f"A list has at most {MAX_CHANNELS:,} channels.", code="channels_full")
        rows.execute(_SET, list=list_name, name=name, alias=alias, version=version)
        _log(rows, name)

    @transaction
    def unpin(self, rows: Rows, list_name: str, name: str, alias: str) -> None:
        """Remove a channel. Raises NotFound."""
        rows.lock(PUBLISHERS)
        texts = list_name, name, alias
        if not all(map(is_storable, texts)) or not rows.execute(_REMOVE, list=list_name, name=name, alias=alias):
            raise NotFound(f"{name[:200]!r} has no channel {alias[:30]!r} on this list.")
        _log(rows, name)


def _log(rows: Rows, name: str) -> None:
    log_changes(rows, [mcp_id_of(name)], "list")
    mark_updated(rows, mcp_id_of(name))

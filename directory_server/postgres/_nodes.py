"""The processes that use the database, for `directory-server status`."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen
from twisted.logger import Logger

from ..domain.errors import Unavailable
from ._connection import Cursor
from ._database import Database

REPORT_INTERVAL = 10.0
"""Seconds between two reports of a process."""

GONE = 60.0
"""Seconds without a report after which a process does not run any more."""

_NOW = "extract(epoch FROM clock_timestamp())"

_REPORT = f"""
    INSERT INTO node (id, version, config, analysis, seen_at) VALUES ($1, $2, $3, $4, {_NOW})
    ON CONFLICT (id) DO UPDATE SET
        version = excluded.version, config = excluded.config, analysis = excluded.analysis, seen_at = excluded.seen_at
"""

_FORGET = f"""
    DELETE FROM node WHERE id IN (SELECT id FROM node WHERE seen_at < {_NOW} - $1::float8 FOR UPDATE SKIP LOCKED)
"""

_LIST = f"SELECT id, version, config, analysis FROM node WHERE seen_at >= {_NOW} - $1::float8 ORDER BY id"


@frozen
class Node:
    """A running process.

    `config` is a digest of the settings that must be the same in all processes. `analysis` is the version of the
    Analysis that the process uses, None for software that does not report it.
    """

    id: str
    version: str
    config: bytes
    analysis: str | None


@frozen
class NodeReports:
    """Reports that this process, `node`, runs. The write also notices that a database with a full disk works again."""

    _database: Database
    _node: Node

    _log = Logger()

    async def report(self) -> None:
        """Write the row of this process; delete those of processes that are gone."""
        node = self._node

        def write(cursor: Cursor) -> None:
            cursor.execute(_REPORT, (node.id, node.version, node.config, node.analysis))
            cursor.execute(_FORGET, (GONE,))

        try:
            await self._database.write(write)
        except Unavailable as error:
            self._log.debug("This process cannot be reported: {reason}", reason=error.message)


async def running_nodes(database: Database) -> Sequence[Node]:
    """Return the processes that have reported in the last GONE seconds, by id. Raises Unavailable."""
    rows = await database.read(lambda cursor: cursor.all(_LIST, GONE))
    return [Node(node_id, version, bytes(config), analysis) for node_id, version, config, analysis in rows]

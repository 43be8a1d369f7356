"""The accepted marks in memory, for requests."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ...domain.ports.additions import ACCEPTED
from ...feature.server import LOADS, SERVICES, Server
from ...timers import Timer
from .tables import AcceptedMarks

REFRESH_INTERVAL = 15.0
"""Seconds between two reads of accepted marks, which other processes may have written."""


class KnownMarks:
    """The accepted marks of all entries, at most REFRESH_INTERVAL seconds old. Operators accept few."""

    def __init__(self, accepted: AcceptedMarks) -> None:
        self._accepted = accepted
        self._known: Mapping[str, Collection[str]] = {}

    def get(self, mcp_id: str) -> Collection[str]:
        """Return the ids of the accepted marks of an entry."""
        return self._known.get(mcp_id, ())

    async def refresh(self) -> None:
        """Read the accepted marks. Raises Unavailable."""
        self._known = await self._accepted.all()


def run(server: Server) -> None:
    """Add the accepted marks that requests read."""
    known = KnownMarks(AcceptedMarks(server.storage.background_tables))
    server.add(SERVICES, Timer(REFRESH_INTERVAL, known.refresh, server.reactor))
    server.add(LOADS, known.refresh)
    server.set(ACCEPTED, known.get)

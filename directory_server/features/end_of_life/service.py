"""Ends of life in a server: in the views of entries, and their states, which webhooks are sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import evolve, frozen

from ...domain.endings import ending_of
from ...domain.ports.additions import ADDITIONS, EntryAdditions
from ...domain.views import Detail
from ...feature.server import SERVICES, Server
from ...serialization import ENDING_META
from ...services.follower import LeasedTimer
from ...services.known_notes import KnownNotes
from ...tables import StoredEndings
from .settings import EndOfLifeConfig

INTERVAL = 600.0
"""Seconds between two looks for entries whose last day is near or past."""


@frozen
class EndingAdditions(EntryAdditions):
    """The end of life of an entry in its views."""

    _notes: KnownNotes

    def add_summary(self, detail: Detail) -> Detail:
        """Return `detail` with the end of life of its entry."""
        ending = ending_of(detail.server_name, self._notes.of(detail.mcp_id))
        return detail if ending is None else evolve(detail, ends=ending.view())

    def registry_meta(self, mcp_id: str, sees: Callable[[str], bool]) -> Mapping[str, object]:
        """Return the end of life of the entry `mcp_id` for the registry API."""
        ending = ending_of("", self._notes.of(mcp_id))
        if ending is None:
            return {}
        view = ending.view()
        return {ENDING_META: view if not view.mcp_id or sees(view.mcp_id) else view.alone()}


def run(server: Server) -> None:
    """Add the views, and the service that brings the states of ends up to date."""
    endings, settings = StoredEndings(server.storage.background_tables), server.config.of(EndOfLifeConfig)

    async def advance() -> None:
        if await endings.advance(server.now(), settings.warn):
            server.bus.announce()

    server.add(ADDITIONS, EndingAdditions(server.notes))
    server.add(
        SERVICES,
        LeasedTimer(server.storage.followers, server.reactor, "ends of entries", advance, interval=INTERVAL),
    )

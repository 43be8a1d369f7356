"""Port of the audit log."""

from __future__ import annotations

from typing import Protocol

from ..audit import AuditEvent
from .points import Single


class AuditTrail(Protocol):
    """Receives the actions of operators, members, publishers and commands."""

    async def begin(self, event: AuditEvent) -> str:
        """Store an action before it is done; return its id. Raises Unavailable, so that nothing is done unseen."""

    async def finish(self, begun: str, event: AuditEvent) -> None:
        """Record an action with its outcome. `begun` is the id of `begin`, empty if nothing was stored before.

        Errors are logged: the action is done, and one that was begun is recorded later with an unknown outcome.
        """

    def reads(self, route: str) -> bool:
        """Return whether requests to a route that only read are recorded."""

    def note_read(self, event: AuditEvent) -> None:
        """Record a request that read, some seconds later."""


TRAIL = Single[AuditTrail | None](None)
"""Records what operators, members and publishers do."""

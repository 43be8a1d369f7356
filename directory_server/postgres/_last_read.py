"""The last change that this process has read of the log. By it, the process notices that the database went back."""

from __future__ import annotations

from attrs import define


@define
class LastRead:
    """The last change that this process has read, and its random mark; before the first, 0 and None.

    Only for the reactor's thread.
    """

    seq: int = 0
    mark: int | None = None

    def record(self, seq: int, mark: int) -> None:
        """Record a change that was read."""
        if seq > self.seq:
            self.seq, self.mark = seq, mark

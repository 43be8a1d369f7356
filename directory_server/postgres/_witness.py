"""The witness: what this process has read of the log, by which it notices that the database went back."""

from __future__ import annotations

from attrs import define


@define
class Witness:
    """The last change that this process has read, and its random mark; before the first, 0 and None.

    Only for the reactor's thread.
    """

    seq: int = 0
    mark: int | None = None

    def saw(self, seq: int, mark: int) -> None:
        """Record a change that was read."""
        if seq > self.seq:
            self.seq, self.mark = seq, mark

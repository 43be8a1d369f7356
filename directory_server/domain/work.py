"""Work that takes long: how far it is."""

from __future__ import annotations

from attrs import frozen

STALE = 60.0
"""Seconds without news after which the process of some work has died."""


def sync_of(upstream: str) -> str:
    """Return the name of the work that syncs an upstream."""
    return f"sync {upstream}"


IMPORT = "import"
"""The name of the work that imports files."""

BACKUP = "backup"
"""The name of the work that makes a backup."""


@frozen
class Work:
    """Work of a process, such as "sync official". Times are seconds since the epoch; `at` is that of the last news.

    `done` counts items of `total`, which is 0 if it is unknown.
    """

    name: str
    started_at: float
    at: float
    done: int = 0
    total: int = 0
    has_ended: bool = False

    @property
    def kind(self) -> str:
        """The first word of the name."""
        return self.name.partition(" ")[0]

    @property
    def subject(self) -> str:
        """What the name says beside the kind, such as an upstream."""
        return self.name.partition(" ")[2]

    def is_active(self, now: float) -> bool:
        """Return whether a process does it."""
        return not self.has_ended and abs(now - self.at) < STALE

    @property
    def remaining(self) -> float | None:
        """The seconds that the rest takes at the same speed; None if they are unknown."""
        if not self.done or self.total < self.done:
            return None
        return max(0.0, self.at - self.started_at) * (self.total - self.done) / self.done

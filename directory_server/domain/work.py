"""Work that takes long: how far it is."""

from __future__ import annotations

from attrs import frozen

STALE = 60.0
"""Seconds without news after which the process of some work has died."""

IMPORT, VERIFY, BACKUP = "import", "verify", "backup"
"""Names of work: importing files, checking remotes and packages, making a backup."""


def sync_of(upstream: str) -> str:
    """Return the name of the work that syncs an upstream."""
    return f"sync {upstream}"


@frozen
class Work:
    """Work of a process, such as "sync official", as of its last news.

    `at` is when these came, in seconds since the epoch, and `age` how many seconds ago. It has taken `seconds` until
    then. `done` counts items of `total`, which is 0 if it is unknown.
    """

    name: str
    at: float
    age: float
    seconds: float
    done: int
    total: int
    has_ended: bool

    @property
    def kind(self) -> str:
        """The first word of the name."""
        return self.name.partition(" ")[0]

    @property
    def subject(self) -> str:
        """What the name says beside the kind, such as an upstream."""
        return self.name.partition(" ")[2]

    @property
    def is_active(self) -> bool:
        """Whether a process does it."""
        return not self.has_ended and abs(self.age) < STALE

    @property
    def remaining(self) -> float | None:
        """The seconds that the rest takes at the same speed; None if they are unknown."""
        if not self.done or self.total < self.done:
            return None
        return self.seconds * (self.total - self.done) / self.done

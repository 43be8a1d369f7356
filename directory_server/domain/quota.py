"""Quota of an API key."""

from __future__ import annotations

from attrs import frozen

WINDOW = 3600
"""Seconds of the window in which the requests of a key are counted."""


@frozen
class Allowance:
    """The quota of a key: `remaining` of `limit` requests in any `window` seconds.

    `reset` is the whole seconds until one more request is available again, 0 if none is spent. `limit` and `remaining`
    are None for an unlimited key.
    """

    limit: int | None
    remaining: int | None
    reset: int
    window: int = WINDOW

    @property
    def used(self) -> int:
        """The number of requests that are spent; 0 for an unlimited key."""
        return 0 if self.limit is None or self.remaining is None else self.limit - self.remaining

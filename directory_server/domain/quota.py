"""Quota of an API key."""

from __future__ import annotations

from attrs import frozen


@frozen
class Allowance:
    """What is left to a key: of `limit` requests in any `window` seconds, `remaining` now.

    `reset` is the whole seconds until one more unit comes back (0 when nothing is spent); `limit` is None for a
    key without one, and then `remaining` is None too.
    """

    limit: int | None
    remaining: int | None
    reset: int
    window: int = 3600

"""Share long reactor turns between the networks of clients."""

from __future__ import annotations

from collections.abc import Callable

LONG = 0.05
"""Seconds of a turn from which each network gets at most one response in it."""


class TurnShare:
    """Decides which requests are answered in a reactor turn, and which wait for the next one.

    300 requests that arrive together from one network would otherwise delay all other clients until the last one is
    answered. `now` returns seconds, `at_end` calls a function at the end of the turn.
    """

    __slots__ = ("_at_end", "_began", "_now", "_served")

    def __init__(self, now: Callable[[], float], at_end: Callable[[Callable[[], None]], None]) -> None:
        self._now = now
        self._at_end = at_end
        self._began = 0.0
        """When the first request of the turn was answered."""
        self._served: set[str] = set()
        """Networks with a request in this turn."""

    def admits(self, network: str) -> bool:
        """Return whether a request of `network` may be answered in this turn."""
        if network in self._served:
            return self._now() - self._began < LONG
        is_first = not self._served
        self._served.add(network)
        if is_first:
            self._began = self._now()
            self._at_end(self._end)
        return True

    def _end(self) -> None:
        self._served.clear()

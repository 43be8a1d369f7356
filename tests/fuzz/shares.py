"""How many of the inputs compiled code accepts: those that it rejects test only the checks of its arguments."""

from __future__ import annotations

from collections import Counter

DAMAGED = "damaged "
"""Prefix of the names of inputs that should be rejected; their share is only printed."""

LEAST = 1 / 3
"""The least share of accepted inputs."""


class Shares:
    """Numbers of inputs, and of those that were accepted, by name."""

    def __init__(self) -> None:
        self._total: Counter[str] = Counter()
        self._accepted: Counter[str] = Counter()

    def add(self, name: str, *, accepted: bool) -> None:
        """Count an input of the function or format `name`."""
        self._total[name] += 1
        self._accepted[name] += accepted

    def lines(self) -> list[str]:
        """Return the share of each name as text."""
        return [f"{name}: {self._accepted[name]:,} of {total:,} accepted" for name, total in self._total.items()]

    def too_low(self) -> list[str]:
        """Return the names of which too few inputs were accepted."""
        return [
            name
            for name, total in self._total.items()
            if not name.startswith(DAMAGED) and self._accepted[name] < LEAST * total
        ]

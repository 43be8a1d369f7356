"""Wording of numbers in messages and logs."""

from __future__ import annotations


def counted(number: int, singular: str, plural: str = "") -> str:
    """Return `number` with its noun: "1 key", "2,000 keys". The plural is the singular with an s by default."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def entries(number: int) -> str:
    """Return a number of entries: "1 entry", "2,000 entries"."""
    return counted(number, "entry", "entries")


_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


def wait(seconds: int) -> str:
    """Return how long to wait, rounded up: "90 seconds", "60 minutes", "3 hours"."""
    size, unit = next((size, unit) for size, unit in _UNITS[1:] if seconds > 2 * size or size == 1)
    return counted(-(-seconds // size), unit)


def duration(seconds: float) -> str:
    """Return a duration of whole seconds, in units from days to seconds: "3 days", "1 hour 30 minutes"."""
    left, parts = round(seconds), []
    for size, unit in _UNITS:
        number, left = divmod(left, size)
        if number:
            parts.append(counted(number, unit))
    return " ".join(parts) or "0 seconds"

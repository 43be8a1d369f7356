"""Format durations."""

from __future__ import annotations

_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


def duration(seconds: float) -> str:
    """Return a duration of whole seconds, in units from days to seconds: "3 days", "1 hour 30 minutes"."""
    left, parts = round(seconds), []
    for size, unit in _UNITS:
        number, left = divmod(left, size)
        if number:
            parts.append(f"{number:,} {unit}{'' if number == 1 else 's'}")
    return " ".join(parts) or "0 seconds"

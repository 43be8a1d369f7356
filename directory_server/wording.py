"""Wording of numbers in messages and logs."""

from __future__ import annotations


def counted(number: int, singular: str, plural: str = "") -> str:
    """Return `number` with its noun: "1 key", "2,000 keys". The plural is the singular with an s by default."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def entries(number: int) -> str:
    """Return a number of entries: "1 entry", "2,000 entries"."""
    return counted(number, "entry", "entries")

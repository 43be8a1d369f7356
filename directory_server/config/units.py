"""Durations and sizes as texts with a unit: 90d, 12h, 64MB."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import isfinite

_SECONDS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0}

_BYTES = {"GiB": 1 << 30, "GB": 10**9, "MiB": 1 << 20, "MB": 10**6, "KiB": 1 << 10, "kB": 10**3}
"""The units of IEC 80000-13: those with an i are powers of 1,024."""

_LOWER_BYTES = {unit.lower(): size for unit, size in _BYTES.items()}

DURATION = "must be a number of seconds or a duration such as 90d, 12h, 30m or 15s"
SIZE = "must be a number of bytes or a size such as 64MB or 64MiB"


def parse_duration(text: str) -> float:
    """Return a duration in seconds; a number without a unit has seconds. Raises ValueError."""
    unit = text[-1:] if text[-1:] in _SECONDS else ""
    try:
        seconds = float(text.removesuffix(unit)) * _SECONDS.get(unit, 1.0)
    except ValueError:
        raise ValueError(DURATION) from None
    if not isfinite(seconds):
        raise ValueError(DURATION)
    return seconds


def format_duration(seconds: float) -> str:
    """Return the shortest text of a duration."""
    return "0" if not seconds else _shortest(seconds, _SECONDS)


def parse_size(text: str) -> int:
    """Return a size in bytes; a number without a unit has bytes. Case is ignored. Raises ValueError."""
    match = re.fullmatch(r"([+-]?[0-9]{1,19}) ?([kmg]i?b|b)?", text, re.IGNORECASE | re.ASCII)
    if match is None:
        raise ValueError(SIZE)
    return int(match[1]) * _LOWER_BYTES.get((match[2] or "").lower(), 1)


def format_size(size: int) -> str:
    """Return the shortest text of a size."""
    return _shortest(size, {**_BYTES, "": 1}) if size else "0"


def _shortest(value: float, units: Mapping[str, float]) -> str:
    """Return `value` in the unit that makes the shortest text, the larger unit of several."""
    # Large numbers have no fraction any more, and a fraction has the smallest unit only.
    exact = {unit: value / size for unit, size in units.items() if not value % size and value / size < 1e15}
    texts = [f"{int(number)}{unit}" for unit, number in exact.items()]
    return min(texts, key=len) if texts else f"{value!r}{[*units][-1]}"

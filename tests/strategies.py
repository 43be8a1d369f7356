"""All texts of a JSON value."""

from __future__ import annotations

from typing import Any


def texts(value: Any) -> list[str]:
    """Return the keys and strings of `value`, at every depth."""
    if isinstance(value, dict):
        return [text for pair in value.items() for each in pair for text in texts(each)]
    if isinstance(value, list | tuple):
        return [text for each in value for text in texts(each)]
    return [value] if isinstance(value, str) else []

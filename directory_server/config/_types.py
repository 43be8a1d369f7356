"""The types that settings have: demanded of a value, never converted to, and read from text."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from pathlib import Path
from typing import Any, get_args, get_origin

from ._declaring import UNLIMITED


def structure(value: object, into: Any) -> Any:
    """Return `value`, as TOML has it, as an `into`. Raises ValueError that says what it must be."""
    if into in _DEMANDS:
        return _DEMANDS[into](value)
    choices = get_args(into)  # of the one kind of type that is left, Literal
    if value not in choices:
        raise ValueError(f"must be one of {', '.join(choices)}")
    return value


def from_text(text: str, into: Any, separator: str) -> object:
    """Return what TOML would hold for `text`, or `text` where it is no `into`, which `structure` then refuses."""
    if get_origin(into) is tuple:
        return [part.strip() for part in text.split(separator) if part.strip()]
    try:
        return _READERS.get(into, str)(text)
    except (KeyError, ValueError):
        return text


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def _whole_number(value: object) -> int:
    # TOML 1.0 promises no more than 64 bits, and SQLite keeps no more.
    if isinstance(value, bool) or not isinstance(value, int) or not -(2**63) <= value < 2**63:
        raise ValueError("must be a whole number")
    return value


def _limit(value: object) -> int | None:
    if value == UNLIMITED:
        return None
    try:
        return _whole_number(value)
    except ValueError as error:
        raise ValueError(f"{error} or {UNLIMITED}") from None


def _number(value: object) -> float:
    if isinstance(value, float) and isfinite(value):
        return value
    try:
        return float(_whole_number(value))
    except ValueError:
        raise ValueError("must be a number") from None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("must be text")
    return value


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError("must be a list of texts")
    return tuple(value)


def _path(value: object) -> Path:
    if not isinstance(value, str) or not value or "\0" in value:
        raise ValueError("must be the path of a folder")
    return Path(value)


_DEMANDS: dict[Any, Callable[[object], object]] = {
    bool: _truth,
    int: _whole_number,
    int | None: _limit,
    float: _number,
    str: _text,
    tuple[str, ...]: _texts,
    Path: _path,
}

_READERS: dict[Any, Callable[[str], object]] = {
    bool: {"true": True, "false": False}.__getitem__,
    int: int,
    int | None: int,
    float: float,
}

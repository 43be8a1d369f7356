"""Types of settings: check values from a TOML file without conversion, and read values from text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import isfinite
from pathlib import Path
from typing import Any, TypeAlias, get_args, get_origin

import attrs
from attrs import AttrsInstance

from ._validators import UNLIMITED

Setting: TypeAlias = "attrs.Attribute[Any]"

Sections: TypeAlias = Mapping[str, type[AttrsInstance]]
"""The classes of the sections of features, by name."""


def structure(value: object, type_: Any) -> Any:
    """Return `value`, from TOML, as an instance of `type_`. Raises ValueError with what is allowed."""
    if type_ in _TYPES:
        return _TYPES[type_](value)
    choices = get_args(type_)  # All other types are Literal.
    if value not in choices:
        raise ValueError(f"must be one of {', '.join(choices)}")
    return value


def from_text(text: str, type_: Any, separator: str) -> object:
    """Return the value that TOML would have for `text`; `text` itself if it is invalid, which `structure` rejects."""
    if get_origin(type_) is tuple:
        return [part.strip() for part in text.split(separator) if part.strip()]
    try:
        return _FROM_TEXT.get(type_, str)(text)
    except (KeyError, ValueError):
        return text


def table_class(type_: Any) -> type[AttrsInstance] | None:
    """Return the attrs class of the tables if `type_` is an array of tables, else None."""
    arguments = get_args(type_)
    return arguments[0] if arguments and attrs.has(arguments[0]) else None


def all_settings(cls: type[AttrsInstance], section: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Setting]]:
    """Yield the name of each setting of `cls` and of its sections, and its attrs field."""
    for field in attrs.fields(attrs.resolve_types(cls)):
        name = (*section, field.name)
        if field.type and attrs.has(field.type):
            yield from all_settings(field.type, name)
        elif "doc" in field.metadata:
            yield name, field


def known_settings(cls: type[AttrsInstance], sections: Sections) -> dict[tuple[str, ...], Setting]:
    """Return the settings of `cls` and of the `sections` of features by name."""
    known = dict(all_settings(cls))
    for name, section in sections.items():
        known |= all_settings(section, (name,))
    return known


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def _integer(value: object) -> int:
    # TOML 1.0 guarantees 64 bits, and SQLite stores no more.
    if isinstance(value, bool) or not isinstance(value, int) or not -(2**63) <= value < 2**63:
        raise ValueError("must be a whole number")
    return value


def _limit(value: object) -> int | None:
    if value == UNLIMITED:
        return None
    try:
        return _integer(value)
    except ValueError as error:
        raise ValueError(f"{error} or {UNLIMITED}") from None


def _number(value: object) -> float:
    if isinstance(value, float) and isfinite(value):
        return value
    try:
        return float(_integer(value))
    except ValueError:
        raise ValueError("must be a number") from None


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a string")
    return value


def _strings(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError("must be a list of strings")
    return tuple(value)


def _path(value: object) -> Path:
    if not isinstance(value, str) or not value or "\0" in value:
        raise ValueError("must be the path of a directory")
    return Path(value)


_TYPES: dict[Any, Callable[[object], object]] = {
    bool: _boolean,
    int: _integer,
    int | None: _limit,
    float: _number,
    str: _string,
    tuple[str, ...]: _strings,
    Path: _path,
}

_FROM_TEXT: dict[Any, Callable[[str], object]] = {
    bool: {"true": True, "false": False}.__getitem__,
    int: int,
    int | None: int,
    float: float,
}

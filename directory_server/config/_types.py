"""Types of settings: structure values of TOML, without conversion, and values of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import isfinite
from operator import eq
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, get_args, get_origin

import attrs
from attrs import AttrsInstance
from cattrs import Converter

from . import units

UNLIMITED = "unlimited"
"""The text of a limit that is None."""

Seconds: TypeAlias = Annotated[float, "duration"]
"""A duration in seconds."""

Bytes: TypeAlias = Annotated[int, "size"]
"""A size in bytes."""

Days: TypeAlias = Annotated[int, "days"]
"""A whole number of days."""

Strings: TypeAlias = tuple[str, ...]
"""A list; commas separate its items in a text."""

Words: TypeAlias = Annotated[tuple[str, ...], "words"]
"""A list of items without spaces; spaces separate them in a text."""

SEPARATORS: Mapping[Any, str] = {Strings: ",", Words: " "}

Setting: TypeAlias = "attrs.Attribute[Any]"

Sections: TypeAlias = Mapping[str, type[AttrsInstance]]
"""The classes of the sections of features, by name."""


def structure(value: object, type_: Any, *, is_text: bool) -> Any:
    """Return `value`, from a text or from TOML, as an instance of `type_`. Raises ValueError with what is allowed."""
    return (_TEXT if is_text else _TOML).structure(value, type_)


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


def as_text(value: object, type_: Any) -> str:
    """Return the text that `structure` reads as `value`."""
    match value:
        case None:
            return UNLIMITED
        case bool():
            return str(value).lower()
        case tuple():
            return SEPARATORS[type_].join(value)
        case float() | int() if type_ == Seconds:
            return units.format_duration(value)
        case int() if type_ == Bytes:
            return units.format_size(value)
        case _:
            return str(value)


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def _integer(value: object) -> int:
    # TOML 1.0 guarantees 64 bits, and SQLite stores no more.
    if isinstance(value, bool) or not isinstance(value, int) or not -(2**63) <= value < 2**63:
        raise ValueError("must be a whole number")
    return value


def _limit(value: object, integer: Callable[[Any], int]) -> int | None:
    if value == UNLIMITED:
        return None
    try:
        return integer(value)
    except ValueError as error:
        raise ValueError(f"{error} or {UNLIMITED}") from None


def _number(value: object) -> float:
    if isinstance(value, float) and isfinite(value):
        return value
    try:
        return float(_integer(value))
    except ValueError:
        raise ValueError("must be a number") from None


def _seconds(value: object) -> float:
    if isinstance(value, str):
        return units.parse_duration(value)
    try:
        return _number(value)
    except ValueError:
        raise ValueError(units.DURATION) from None


def _bytes(value: object) -> int:
    try:
        return _integer(units.parse_size(value) if isinstance(value, str) else value)
    except ValueError:
        raise ValueError(units.SIZE) from None


def _days(value: object) -> int:
    try:
        return _integer(int(value.removesuffix("d")) if isinstance(value, str) else value)
    except ValueError:
        raise ValueError("must be a whole number of days such as 90 or 90d") from None


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a string")
    return value


def _strings(value: object) -> tuple[str, ...]:
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise ValueError("must be a string or a list of strings")
    return tuple(items)


def _path(value: object) -> Path:
    if not isinstance(value, str) or not value or "\0" in value:
        raise ValueError("must be the path of a directory")
    return Path(value)


def _choice(value: object, type_: Any) -> object:
    choices = get_args(type_)
    if value not in choices:
        raise ValueError(f"must be one of {', '.join(choices)}")
    return value


def _text_of(read: Callable[[str], object], structure: Callable[[object], Any]) -> Callable[[str], Any]:
    """Return a function that structures what `read` makes of a text, or the text itself if `read` fails."""

    def structure_text(text: str) -> Any:
        try:
            value = read(text)
        except (KeyError, ValueError):
            value = text
        return structure(value)

    return structure_text


def _split(separator: str) -> Callable[[str], tuple[str, ...]]:
    return lambda text: tuple(part.strip() for part in text.split(separator) if part.strip())


def _converter(hooks: Mapping[Any, Callable[[Any], Any]]) -> Converter:
    converter = Converter()
    hooks = {str: _string, Path: _path, Seconds: _seconds, Bytes: _bytes, Days: _days, **hooks}
    hooks[int | None] = partial(_limit, integer=hooks[int])
    for type_, hook in hooks.items():
        if isinstance(type_, type):
            # Hooks of classes precede those of functions, and cattrs has some.
            converter.register_structure_hook(type_, _without_type(hook))
        else:
            converter.register_structure_hook_func(partial(eq, type_), _without_type(hook))
    converter.register_structure_hook_func(is_literal, _choice)
    return converter


def _without_type(hook: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda value, _: hook(value)


def is_literal(type_: Any) -> bool:
    """Return whether `type_` is a list of allowed values."""
    return get_origin(type_) is Literal


_TOML = _converter({bool: _boolean, int: _integer, float: _number, Strings: _strings, Words: _strings})

_TEXT = _converter(
    {
        bool: _text_of({"true": True, "false": False}.__getitem__, _boolean),
        int: _text_of(int, _integer),
        float: _text_of(float, _number),
        **{type_: _split(separator) for type_, separator in SEPARATORS.items()},
    }
)

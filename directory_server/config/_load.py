"""Settings from their sources, each known by where it came from until it has proved valid."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import attrs
from attrs import AttrsInstance

from ._settings import Config, tables
from ._sources import Given, Name, from_environment, from_file, from_options
from ._types import from_text, structure

C = TypeVar("C", bound=AttrsInstance)


def load(
    *,
    file: Path | None,
    environ: Mapping[str, str],
    settings: Iterable[str],
    listen: Sequence[str] = (),
    data_dir: Path | None = None,
) -> Config:
    """Return the configuration; a later source wins: `file`, `environ`, `settings`, then `listen` and `data_dir`.

    `settings` are the `section.key=value` of `--set`; DIRECTORY_SERVER_CONFIG may name the file where `file` is None.
    Every value is checked, one that a later source replaces too. Raises ConfigError.
    """
    given = [*from_file(file, environ), *from_environment(environ), *from_options(settings)]
    if listen:
        given.append(Given(("listen",), list(listen), "--listen"))
    if data_dir is not None:
        given.append(Given(("data_dir",), str(data_dir), "--data-dir"))
    return build(Config, given)


def build(into: type[C], given: Iterable[Given]) -> C:
    """Return an `into` of its defaults and of `given`, where the last of a name wins. Raises ConfigError."""
    known = dict(_settings(into))
    values: dict[Name, Any] = {}
    for item in given:
        if item.name not in known:
            # Tables stand in the file alone.
            there = [name for name, field in known.items() if not (item.is_text and tables(field.type))]
            raise item.refuse(_unknown(item, there))
        values[item.name] = _read(item, known[item.name])
    return _filled(into, values)


def _settings(into: type[AttrsInstance], section: Name = ()) -> Iterator[tuple[Name, attrs.Attribute[Any]]]:
    for field in attrs.fields(attrs.resolve_types(into)):
        name = (*section, field.name)
        if field.type and attrs.has(field.type):
            yield from _settings(field.type, name)
        else:
            yield name, field


def _filled(into: type[C], values: Mapping[Name, Any], section: Name = ()) -> C:
    arguments = {}
    for field in attrs.fields(into):
        name = (*section, field.name)
        if field.type and attrs.has(field.type):
            arguments[field.name] = _filled(field.type, values, name)
        elif name in values:
            arguments[field.name] = values[name]
    return into(**arguments)


def _unknown(item: Given, known: Sequence[Name]) -> str:
    first, *rest = item.name
    inside = [name for name in known if name[0] == first and len(name) > 1]
    if inside and not rest:
        return f"is a section, not a setting; its settings are {', '.join(map(item.spell, inside))}"
    dotted = {".".join(name): name for name in known}
    close = get_close_matches(".".join(item.name).lower(), dotted, n=1)
    guess = f"did you mean {item.spell(dotted[close[0]])}? " if close else ""
    near = inside or dict.fromkeys((name[0], "*") if len(name) > 1 else name for name in known)
    return f"is not a setting; {guess}known are {', '.join(map(item.spell, near))}"


def _read(item: Given, field: attrs.Attribute[Any]) -> Any:
    value = item.value
    if kind := tables(field.type):
        value = _tables(item, kind)
    elif item.is_text:
        value = from_text(str(value), field.type, field.metadata["separator"])
    try:
        value = value if kind else structure(value, field.type)
        if field.validator is not None:
            field.validator(None, field, value)
    except ValueError as error:
        shown = "" if kind or field.metadata["secret"] else f", not {_shown(item.value)}"
        raise item.refuse(f"{error}{shown}") from None
    return value


def _tables(item: Given, kind: type[C]) -> tuple[C, ...]:
    """Return what an array of tables holds, each built as the whole is. Raises ConfigError."""
    value, inside = item.value, (lambda name: item.spell((*item.name, *name)))
    if item.is_text or not isinstance(value, list) or not all(isinstance(table, dict) for table in value):
        raise item.refuse(f"must be tables [[{item.name[0]}]], which stand in the file alone")
    return tuple(
        build(
            kind, [Given((key,), each, f"{item.source}, table {number}", spell=inside) for key, each in table.items()]
        )
        for number, table in enumerate(value, 1)
    )


def _shown(value: object) -> str:
    try:
        return reprlib.repr(value)
    except ValueError:  # Python writes no integer of more than 4,300 digits.
        return "one so long"

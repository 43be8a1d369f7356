"""Reference of all settings: the output of `directory-server config`, and the tables in docs/operations.md."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import attrs
from attrs import AttrsInstance

from ._settings import Config
from ._sources import Name, variable
from ._types import Sections, Setting, all_settings, known_settings, table_class
from ._validators import UNLIMITED, AtLeast

_TYPE_NAMES: dict[Any, str] = {
    bool: "`true` or `false`",
    int: "whole number",
    int | None: f"whole number or `{UNLIMITED}`",
    float: "number",
    str: "string",
    tuple[str, ...]: "list of strings",
    Path: "path",
}


def describe(config: AttrsInstance, section: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield the name of each setting, its value as `--set` accepts it (secrets masked) and its meaning."""
    for field in attrs.fields(attrs.resolve_types(type(config))):
        value = getattr(config, field.name)
        if attrs.has(type(value)):
            yield from describe(value, f"{field.name}.")
        elif "doc" not in field.metadata:
            for name, settings in value.items():
                yield from describe(settings, f"{name}.")
        elif table_class(field.type):
            for table in value:
                yield from describe(table, f"{field.name}.{table.name}.")
        else:
            yield section + field.name, _as_text(value, field), field.metadata["doc"]


def setting_names(sections: Sections) -> Sequence[str]:
    """Return the names of all settings but those of upstreams. `sections` are those of features."""
    return [".".join(name) for name in known_settings(Config, sections)]


def shown_settings(config: Config) -> dict[str, str]:
    """Return the texts of all settings by name, secrets masked, with an absolute data_dir."""
    absolute = attrs.evolve(config, data_dir=config.data_dir.absolute())
    return {name: value for name, value, _ in describe(absolute)}


def record_folder(config: Config) -> Path | None:
    """Return the folder in which servers record their settings; None if they have no folder of their own."""
    if config.database:
        return Path(config.index_dir) if config.index_dir else None
    return config.data_dir


def settings_tables(sections: Sections, cls: type[AttrsInstance] = Config) -> str:
    """Return a Markdown table of the settings in `cls` and in the `sections` of features.

    Each array of tables, which only a file has, gets a table of its own.
    """
    known = known_settings(cls, sections)
    plain = {
        name: field for name, field in known.items() if not table_class(field.type) or field.metadata["table_of_text"]
    }
    tables = [_table(plain, with_variables=True)]
    for name, field in known.items():
        if inner := table_class(field.type):
            tables.append(_table({(*name, *key): each for key, each in all_settings(inner)}, with_variables=False))
    return "\n".join(tables)


def _table(settings: dict[Name, Setting], *, with_variables: bool) -> str:
    names = re.compile("|".join(re.escape(".".join(name)) for name in settings if len(name) > 1))
    columns = ["setting", "type", "default", *(["environment variable"] if with_variables else []), "meaning"]
    rows = [columns, ["---"] * len(columns)]
    for name, field in settings.items():
        default = _as_text(field.default, field).removesuffix(".0")
        rows.append(
            [
                f"`{'.'.join(name)}`",
                _type_name(field),
                f"`{default}`" if default else "",
                *([f"`{variable(name)}`"] if with_variables else []),
                names.sub(lambda found: f"`{found[0]}`", field.metadata["doc"]),
            ]
        )
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


def _type_name(field: Setting) -> str:
    if get_origin(field.type) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(field.type))
    if table_class(field.type):
        return "tables, or list of strings"
    name = _TYPE_NAMES[field.type]
    return (
        name.replace("number", f"number ≥ {field.validator.minimum}") if isinstance(field.validator, AtLeast) else name
    )


def _as_text(value: object, field: Setting) -> str:
    match value:
        case None:
            return UNLIMITED
        case _ if field.metadata["secret"]:
            return "(secret)" if value else ""
        case bool():
            return str(value).lower()
        case tuple():
            return str(field.metadata["separator"]).join(value)
        case _:
            return str(value)

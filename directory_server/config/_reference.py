"""Reference of all settings: the output of `directory-server config`, and the tables in docs/operations.md."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import attrs
from attrs import AttrsInstance, frozen

from ._load import Name
from ._settings import Config
from ._types import (
    UNLIMITED,
    Bytes,
    Days,
    Seconds,
    Sections,
    Setting,
    Strings,
    Words,
    all_settings,
    as_text,
    is_literal,
    known_settings,
    structure,
    table_class,
)
from ._validators import AtLeast

_TYPE_NAMES: Sequence[tuple[Any, str]] = (
    (bool, "boolean"),
    (int, "integer"),
    (int | None, f"integer or `{UNLIMITED}`"),
    (float, "number"),
    (Seconds, "duration"),
    (Bytes, "size"),
    (Days, "days"),
    (str, "string"),
    (Strings, "list"),
    (Words, "list"),
    (Path, "path"),
)


@frozen
class ShownSetting:
    """A setting with texts as `--set` accepts them: its value, masked if it is secret, and its default.

    `line` sets the value in the section of a TOML file; it is empty for a secret. `step` is as in `setting`.
    """

    name: str
    value: str
    default: str
    meaning: str
    line: str
    step: str


def describe(config: AttrsInstance, section: str = "") -> Iterator[ShownSetting]:
    for field in attrs.fields(attrs.resolve_types(type(config))):
        value = getattr(config, field.name)
        if attrs.has(type(value)):
            yield from describe(value, f"{field.name}.")
        elif field.name == "features":
            for name, settings in value.items():
                yield from describe(settings, f"{name}.")
        elif "doc" not in field.metadata:
            continue
        elif table_class(field.type):
            for table in value:
                yield from describe(table, f"{section}{field.name}.{table.name}.")
        else:
            meta, default = field.metadata, _as_text(field.default, field) if field.default is not attrs.NOTHING else ""
            line = "" if meta["secret"] else f"{field.name} = {_toml(value, field)}"
            yield ShownSetting(section + field.name, _as_text(value, field), default, meta["doc"], line, meta["step"])


def _toml(value: object, field: Setting) -> str:
    """Return a value as TOML: a list of texts, a number or a truth value, else a text in quotation marks."""
    if isinstance(value, tuple):
        return f"[{', '.join(_quoted(str(item)) for item in value)}]"
    is_plain = isinstance(value, int | float) and field.type not in (Seconds, Bytes)
    text = as_text(value, field.type)
    return text if is_plain else _quoted(text)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(char if char.isprintable() else f"\\U{ord(char):08X}" for char in escaped) + '"'


def setting_names(sections: Sections) -> Sequence[str]:
    """Return the names of all settings but those of upstreams. `sections` are those of features."""
    return [".".join(name) for name in known_settings(Config, sections)]


def shown_settings(config: Config) -> dict[str, str]:
    """Return the texts of all settings by name, secrets masked, with an absolute data_dir."""
    absolute = attrs.evolve(config, data_dir=config.data_dir.absolute())
    return {setting.name: setting.value for setting in describe(absolute)}


def record_folder(config: Config) -> Path | None:
    """Return the folder in which servers record their settings; None if they have no folder of their own."""
    if config.database:
        return Path(config.index_dir) if config.index_dir else None
    return config.data_dir


def index_folder(config: Config) -> Path | None:
    """Return the folder of the file of the index; None if there is no file."""
    return Path(config.index_dir) if config.index_dir else record_folder(config)


def typed_settings(texts: Mapping[str, str], sections: Sections) -> dict[str, object]:
    """Return the values that JSON has for the `texts` of settings: durations in seconds, sizes in bytes.

    Limits that are unlimited are None. Texts of secrets and of unknown settings, as of another version, stay texts.
    """
    known = known_settings(Config, sections)
    fields = {".".join(name): field for name, field in known.items()}
    tables = {f"{'.'.join(name)}.": _table_settings(field) for name, field in known.items() if table_class(field.type)}

    def field_of(name: str) -> Setting | None:
        # The name of a table, which is a part of the name, may have dots.
        table = next((table for prefix, table in tables.items() if name.startswith(prefix)), {})
        return fields.get(name) or table.get((name.rpartition(".")[2],))

    return {name: _typed(text, field_of(name)) for name, text in texts.items()}


def _table_settings(field: Setting) -> dict[Name, Setting]:
    cls = table_class(field.type)
    return dict(all_settings(cls)) if cls else {}


def _typed(text: str, field: Setting | None) -> object:
    if field is None or field.metadata["secret"]:
        return text
    try:
        value = structure(text, field.type, is_text=True)
    except ValueError:
        return text
    return str(value) if isinstance(value, Path) else value


def settings_tables(sections: Sections) -> str:
    """Return the settings as Markdown: a table of the daily ones, and of the others for each section, together where
    a section has one.
    """
    known = known_settings(Config, sections)
    daily = {name: field for name, field in known.items() if field.metadata["daily"]}
    groups: dict[str, dict[Name, Setting]] = {}
    for name, field in known.items():
        if not field.metadata["daily"]:
            groups.setdefault(name[0] if len(name) > 1 else "", {})[name] = field
    classes = {field.name: field.type for field in attrs.fields(attrs.resolve_types(Config))} | dict(sections)
    names = re.compile("|".join(re.escape(".".join(name)) for name in known if len(name) > 1))
    parts = ["### Start here\n", _table(daily, names), "### Rarely needed\n"]
    single: dict[Name, Setting] = {}
    for section, settings in groups.items():
        if section and len(settings) == 1:
            single |= settings
            continue
        title, doc = (f"Section [{section}]", _summary(classes[section])) if section else ("Top of the file", "")
        parts += [f"#### {title}\n", *([f"{doc}\n"] if doc else []), _table(settings, names)]
    parts += ["#### Sections of one setting\n", _table(single, names)]
    for name, field in known.items():
        if cls := table_class(field.type):
            parts += [f"#### Tables [[{'.'.join(name)}]]\n", f"{_summary(cls)}\n"]
            parts.append(_table({(*name, *inner): setting for inner, setting in _table_settings(field).items()}, names))
    return "\n".join(parts)


def _summary(cls: Any) -> str:
    return " ".join((cls.__doc__ or "").split())


def _table(settings: Mapping[Name, Setting], names: re.Pattern[str]) -> str:
    """Return a table of `settings`, with the `names` of settings in meanings as code."""
    rows = []
    for name, field in settings.items():
        default = _as_text(field.default, field).removesuffix(".0")
        rows.append(
            [
                f"`{'.'.join(name)}`",
                _type_name(field),
                f"`{default}`" if default else "",
                names.sub(lambda match: f"`{match[0]}`", field.metadata["doc"]).replace("|", "\\|"),
            ]
        )
    head = "| setting | type | default | meaning |\n|---|---|---|---|\n"
    return head + "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


def _type_name(field: Setting) -> str:
    if is_literal(field.type):
        return ", ".join(f"`{choice}`" for choice in get_args(field.type))
    if table_class(field.type):
        return "tables, or URLs" if field.metadata["table_of_text"] else "tables"
    name = next((name for type_, name in _TYPE_NAMES if type_ == field.type), "")
    if not name:
        raise TypeError(f"{field.name}: settings have no type {field.type}; _TYPE_NAMES lists them")
    if not isinstance(field.validator, AtLeast) or field.validator.minimum == 0:
        return name
    first, space, rest = name.partition(" or ")
    return f"{first} ≥ {as_text(field.validator.minimum, field.type)}{space}{rest}"


def _as_text(value: object, field: Setting) -> str:
    if field.metadata["secret"]:
        return "(secret)" if value else ""
    return "" if table_class(field.type) else as_text(value, field.type)

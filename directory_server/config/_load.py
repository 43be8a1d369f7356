"""Load the configuration: read and merge the sources, check each value and fill in the defaults."""

from __future__ import annotations

import re
import reprlib
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

import attrs
from attrs import AttrsInstance, frozen

from ..runtime.files import open_file, read_regular_file
from ._settings import Config
from ._types import Sections, known_settings, structure, table_class

C = TypeVar("C", bound=AttrsInstance)

NO_SECTIONS: Sections = MappingProxyType({})


@runtime_checkable
class CheckedSection(Protocol):
    """Settings of a feature that depend on other settings."""

    def check(self, config: Config) -> None:
        """Raise ConfigError if the settings do not fit the others in `config`."""


REMOVED = {
    "processes": "is not a setting any more; run a process for each core, all with reuse_port, as the units of "
    "deploy/systemd/directory-server@.service do (docs/operations.md, Several processes)"
}
"""What to do in place of a former setting."""

MAX_ERRORS = 10
"""The most invalid settings that an error names."""


def load(
    *,
    file: Path | None,
    environ: Mapping[str, str],
    settings: Iterable[str],
    listen: Sequence[str] = (),
    data_dir: Path | None = None,
    sections: Sections = NO_SECTIONS,
) -> Config:
    """Return the configuration. A later source overrides: `file`, `environ`, `settings`, `listen` and `data_dir`.

    `settings` are the `section.key=value` of `--set`. DIRECTORY_SERVER_CONFIG may name the file if `file` is None.
    Overridden values are checked too. `sections` are those of features. Raises ConfigError.
    """
    source_values = [*from_file(file, environ), *from_environment(environ), *from_options(settings)]
    if listen:
        source_values.append(SourceValue(("listen",), list(listen), "--listen"))
    if data_dir is not None:
        source_values.append(SourceValue(("data_dir",), str(data_dir), "--data-dir"))
    config = build(Config, source_values, sections)
    for item in source_values:
        if config.database and item.name == ("quota", "synchronous"):
            raise item.error("is for SQLite only; with a database all commits are synchronous")
    for section in config.features.values():
        if isinstance(section, CheckedSection):
            section.check(config)
    return attrs.evolve(config, sources={".".join(item.name): item.source for item in source_values})


def build(cls: type[C], source_values: Iterable[SourceValue], sections: Sections = NO_SECTIONS) -> C:
    """Return an instance of `cls` with the values in `source_values`, the last for each name. Raises ConfigError."""
    known = known_settings(cls, sections)
    values: dict[Name, Any] = {}
    errors: list[str] = []
    for item in source_values:
        try:
            values[item.name] = _value(item, known)
        except ConfigError as error:
            errors.append(str(error))
    if errors:
        raise ConfigError("\n".join(errors[:MAX_ERRORS]))
    return _instance(cls, values, sections=sections)


def _value(item: SourceValue, known: Mapping[Name, attrs.Attribute[Any]]) -> Any:
    if item.name in known:
        return _read(item, known[item.name])
    names = [name for name, field in known.items() if not item.is_text or _can_be_text(field)]
    raise item.error(_unknown(item, names))


def _instance(cls: type[C], values: Mapping[Name, Any], section: Name = (), sections: Sections = NO_SECTIONS) -> C:
    arguments: dict[str, Any] = {}
    for field in attrs.fields(cls):
        name = (*section, field.name)
        if field.type and attrs.has(field.type):
            arguments[field.name] = _instance(field.type, values, name)
        elif name in values:
            arguments[field.name] = values[name]
        elif field.name == "features":
            arguments[field.name] = {key: _instance(kind, values, (key,)) for key, kind in sections.items()}
    return cls(**arguments)


def _unknown(item: SourceValue, known: Sequence[Name]) -> str:
    """Return the error for an unknown name, with the closest known name and the names in the same section."""
    first, *rest = item.name
    if (advice := REMOVED.get(".".join(item.name))) is not None:
        return advice
    inside = [name for name in known if name[0] == first and len(name) > 1]
    if inside and not rest:
        return f"is a section, not a setting; its settings are {', '.join(map(item.spell, inside))}"
    # Only an error needs it: it takes .7 MB.
    from difflib import get_close_matches

    dotted = {".".join(name): name for name in known}
    close = get_close_matches(".".join(item.name).lower(), dotted, n=1)
    guess = f"did you mean {item.spell(dotted[close[0]])}? " if close else ""
    near = inside or dict.fromkeys((name[0], "*") if len(name) > 1 else name for name in known)
    return f"is not a setting; {guess}known settings: {', '.join(map(item.spell, near))}"


def _read(item: SourceValue, field: attrs.Attribute[Any]) -> Any:
    cls = table_class(field.type)
    try:
        value = _tables(item, cls, field.metadata) if cls else structure(item.value, field.type, is_text=item.is_text)
        if field.validator is not None:
            field.validator(None, field, value)
    except ValueError as error:
        wrong = "" if cls or field.metadata["secret"] else f", not {_short(item.value)}"
        raise item.error(f"{error}{wrong}") from None
    return value


def _can_be_text(field: attrs.Attribute[Any]) -> bool:
    return table_class(field.type) is None or field.metadata["table_of_text"] is not None


def _tables(item: SourceValue, cls: type[C], metadata: Mapping[str, Any]) -> tuple[C, ...]:
    """Return the instances of `cls` in an array of tables. Raises ConfigError."""
    value = item.value
    table_of_text = metadata["table_of_text"]
    if item.is_text and table_of_text is not None:
        try:
            value = [table_of_text(text) for text in str(value).split()]
        except ValueError as error:
            raise item.error(str(error)) from None
    elif item.is_text or not isinstance(value, list) or not all(isinstance(table, dict) for table in value):
        raise item.error(f"must be tables [[{'.'.join(item.name)}]] of the TOML file")

    def spell(name: Name) -> str:
        return item.spell((*item.name, *name))

    return tuple(
        build(
            cls,
            [SourceValue((key,), text, f"{item.source}, table {number}", spell=spell) for key, text in table.items()],
        )
        for number, table in enumerate(value, 1)
    )


def _short(value: object) -> str:
    try:
        return reprlib.repr(value)
    except ValueError:  # Python does not format integers of more than 4,300 digits.
        return "one of more than 4,300 digits"


Name: TypeAlias = tuple[str, ...]
"""The parts of a setting's name: `streams.per_key` is ("streams", "per_key")."""

PREFIX = "DIRECTORY_SERVER_"
"""The prefix of environment variables."""

FILE_VARIABLE = f"{PREFIX}CONFIG"
"""The environment variable with the path of the TOML file, used without the option --config."""

# Kubernetes sets these variables in every container if a Service is named "directory-server".
_SERVICE_LINK = re.compile(PREFIX + r"(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_[A-Z]+)?)?)")


class ConfigError(Exception):
    """The configuration is invalid. The message has a line for each error: setting, source, error, allowed values."""


MAX_SECRET = 10_000
"""Bytes of the file that a setting names for a secret."""


def read_secret(setting: str, path: str) -> str:
    """Return the line in the file that a setting names, empty without a path. Raises ConfigError, without the text."""
    try:
        secret = read_setting_file(setting, path).decode()
    except UnicodeDecodeError:
        raise ConfigError(f"{setting}: {path} is not UTF-8.") from None
    if path and not (secret and secret.isprintable()):
        raise ConfigError(f"{setting}: {path} must have one printable line.")
    return secret


def read_setting_file(setting: str, path: str) -> bytes:
    """Return the content of the file that a setting names, without spaces around it; empty without a path.

    Raises ConfigError if it cannot be read or has more than MAX_SECRET bytes.
    """
    try:
        content = read_regular_file(path, MAX_SECRET + 1) if path else b""
    except OSError as error:
        raise ConfigError(f"{setting}: cannot read {path}: {error.strerror}.") from None
    if len(content) > MAX_SECRET:
        raise ConfigError(f"{setting}: {path} must have at most {MAX_SECRET:,} bytes.")
    return content.strip()


@frozen
class SourceValue:
    """The value of a setting in a source: text to be read (`is_text`), or a value of TOML.

    `spell` returns the name of a setting as the source writes it.
    """

    name: Name
    value: object
    source: str
    is_text: bool = False
    spell: Callable[[Name], str] = ".".join

    def error(self, reason: str) -> ConfigError:
        """Return an error with the name of the setting, the source and the `reason`."""
        return ConfigError(f"{printable(self.spell(self.name))} ({self.source}): {reason}")


def printable(text: str) -> str:
    """Return `text`, quoted and escaped if it is empty or has unprintable characters."""
    return text if text.isprintable() and text else repr(text)


def variable(name: Name) -> str:
    """Return the environment variable of a setting."""
    return PREFIX + "__".join(name).swapcase()


def from_file(file: Path | None, environ: Mapping[str, str]) -> Iterator[SourceValue]:
    """Yield the values in a TOML file: `file`, or else the one that `environ` names. Raises ConfigError."""
    source = f"{FILE_VARIABLE}: " if file is None else ""
    if file is None and environ.get(FILE_VARIABLE):
        file = Path(environ[FILE_VARIABLE])
    if file is None:
        return
    source += printable(str(file))
    try:
        with open_file(file) as opened:
            table = tomllib.loads(opened.read().decode())
    except OSError as error:
        raise ConfigError(f"{source}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{source}: must be UTF-8; byte {error.start} is not") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{source}: must be TOML: {error}") from None
    for key, value in table.items():
        if isinstance(value, dict):
            yield from (SourceValue((key, inner), item, source) for inner, item in value.items())
        else:
            yield SourceValue((key,), value, source)


def from_environment(environ: Mapping[str, str]) -> Iterator[SourceValue]:
    """Yield the values of environment variables that begin with PREFIX."""
    for key, text in environ.items():
        if key.startswith(PREFIX) and key != FILE_VARIABLE and not _SERVICE_LINK.fullmatch(key):
            # Case is swapped, so that a variable in lower case has a name in capitals, which is unknown.
            name = tuple(key.removeprefix(PREFIX).swapcase().split("__"))
            yield SourceValue(name, text, "environment", is_text=True, spell=variable)


def from_options(settings: Iterable[str]) -> Iterator[SourceValue]:
    """Yield the values of `--set` options, `section.key=value`. Raises ConfigError."""
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise ConfigError(f"{printable(setting)} (--set): must be section.key=value")
        yield SourceValue(tuple(name.split(".")), text, "--set", is_text=True)

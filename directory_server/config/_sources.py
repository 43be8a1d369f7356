"""Sources of settings: TOML file, environment and options. Names are not yet checked."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from attrs import frozen

from ..files import open_file

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
            yield from (SourceValue((key, inner), each, source) for inner, each in value.items())
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

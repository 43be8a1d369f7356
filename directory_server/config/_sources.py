"""What each source gives, name by name, not yet compared with the settings there are."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from attrs import frozen

Name: TypeAlias = tuple[str, ...]

PREFIX = "DIRECTORY_SERVER_"
"""What the environment variables of the settings begin with."""

FILE_VARIABLE = f"{PREFIX}CONFIG"
"""The environment variable that names the TOML file where no option does."""

# Kubernetes puts these into every container beside a Service called "directory-server"; nobody meant a setting.
_SERVICE_LINK = re.compile(PREFIX + r"(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_[A-Z]+)?)?)")


class ConfigError(Exception):
    """Refuse a configuration, in one line: the setting, where it came from, what is wrong and what is allowed."""


@frozen
class Given:
    """A value that a source gives to a setting: text to be read, or of its type already.

    `spell` is how the source writes a setting's name.
    """

    name: Name
    value: object
    source: str
    is_text: bool = False
    spell: Callable[[Name], str] = ".".join

    def refuse(self, reason: str) -> ConfigError:
        """Return the error that says where the value stands and why it will not do."""
        return ConfigError(f"{plain(self.spell(self.name))} ({self.source}): {reason}")


def plain(text: str) -> str:
    """Return `text` as it is if it can stand in a line, else quoted and escaped."""
    return text if text.isprintable() and text else repr(text)


def from_file(file: Path | None, environ: Mapping[str, str]) -> Iterator[Given]:
    """Yield what the TOML file gives, which `environ` may name where `file` is None. Raises ConfigError."""
    source = f"{FILE_VARIABLE}: " if file is None else ""
    if file is None and environ.get(FILE_VARIABLE):
        file = Path(environ[FILE_VARIABLE])
    if file is None:
        return
    source += plain(str(file))
    try:
        table = tomllib.loads(file.read_bytes().decode())
    except OSError as error:
        raise ConfigError(f"{source}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{source}: must be UTF-8; byte {error.start} is not") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{source}: must be TOML: {error}") from None
    for key, value in table.items():
        if isinstance(value, dict):
            yield from (Given((key, inner), each, source) for inner, each in value.items())
        else:
            yield Given((key,), value, source)


def from_environment(environ: Mapping[str, str]) -> Iterator[Given]:
    """Yield what the environment variables that begin with PREFIX give."""
    for variable, text in environ.items():
        if variable.startswith(PREFIX) and variable != FILE_VARIABLE and not _SERVICE_LINK.fullmatch(variable):
            # Swapped, not lowered: what is not all in capitals is another variable, and unknown.
            name = tuple(variable.removeprefix(PREFIX).swapcase().split("__"))
            yield Given(name, text, "environment", is_text=True, spell=_variable)


def _variable(name: Name) -> str:
    return PREFIX + "__".join(name).swapcase()


def from_options(settings: Iterable[str]) -> Iterator[Given]:
    """Yield what the texts `section.key=value` of `--set` give. Raises ConfigError."""
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise ConfigError(f"{plain(setting)} (--set): must be section.key=value")
        yield Given(tuple(name.split(".")), text, "--set", is_text=True)

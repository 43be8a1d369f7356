"""Templates: texts of a configuration with inputs that the user enters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, count
from typing import Any

from attrs import define, evolve, field, frozen

from ..sanitize import clean, clean_line
from ._notices import Unusable

LONGEST = 2_000
"""Characters of one text."""

MOST = 100
"""Texts of one kind in a package or remote: arguments, variables, headers; inputs of all of them."""

PLACES = 200
"""Placeholders in the texts of a package or remote."""

_PLACE = re.compile(r"\$?\{([A-Za-z_][A-Za-z0-9_.-]{0,59})\}")

# References that editors expand: VS Code, Cursor, Claude Code and Windsurf for ${…}, Gemini CLI for
# $NAME, OpenCode for {env:…} and {file:…}, and Windows for %NAME% where npx is a batch file.
_REFERENCE = re.compile(r"\$[A-Za-z_{(]|\{(?:env|file):|%(?![0-9A-Fa-f]{2}%)[A-Za-z_][A-Za-z0-9_]*%")


@frozen
class Input:
    """A value that the user enters. `default` is empty if there is none, `choices` if any value is allowed."""

    name: str
    description: str
    required: bool
    secret: bool
    default: str
    choices: Sequence[str]


Template = tuple[str | Input, ...]
"""Fixed parts and inputs."""

INPUT = "\ue000"
"""The placeholder of an input in `flat`: a private-use character, which fixed parts must not contain."""


def flat(text: Template) -> str:
    """Return a text with `INPUT` in place of each input, to match it with a pattern."""
    return "".join(INPUT if isinstance(part, Input) else part for part in text)


def shown(text: Template) -> str:
    """Return a text with `<name>` in place of each input, for display."""
    return "".join(f"<{part.name}>" if isinstance(part, Input) else part for part in text)


@define
class Inputs:
    """Reads the texts of one package or remote, and collects their inputs."""

    _named: dict[str, Input] = field(factory=dict, init=False)
    _places: int = field(default=0, init=False)

    @property
    def all(self) -> tuple[Input, ...]:
        return tuple(self._named.values())

    def text(self, said: Mapping[str, Any], name: str, *, asked: bool = False) -> Template | None:
        """Return the template of `said` (KeyValueInput or Argument of the server.json schema).

        Returns None if it is optional and has no value. With `asked`, the user must enter every input: defaults and
        choices of the publisher are ignored. Raises Unusable.
        """
        if value := words(said.get("value")):
            return self.filled(value, said, asked=asked)
        new = self._input(name, said, required=_needed(said), asked=asked)
        if new.default:
            return self.filled(new.default, said)
        return (new,) if new.required else None

    def filled(self, value: str, said: Mapping[str, Any], *, asked: bool = False) -> Template:
        """Return `value` with an input, or its fixed value, in place of each `{name}`. Raises Unusable."""
        if len(value) > LONGEST:
            raise Unusable("size", f"{LONGEST:,}")
        variables = mapping(said.get("variables"))
        parts: list[str | Input] = []
        end = 0
        for place in _PLACE.finditer(value):
            self._places += 1
            if self._places > PLACES:
                raise Unusable("count", str(PLACES))
            variable = self._variable(place[1], mapping(variables.get(place[1])), said, asked)
            parts += [value[end : place.start()], variable]
            end = place.end()
        parts.append(value[end:])
        # Two harmless parts may form a reference together.
        literal("".join(part.name if isinstance(part, Input) else part for part in parts))
        return tuple(part for part in parts if part)

    def _variable(self, name: str, variable: Mapping[str, Any], said: Mapping[str, Any], asked: bool) -> str | Input:
        secret = variable.get("isSecret", said.get("isSecret"))
        default = "" if secret is True or asked else words(variable.get("default"))
        fixed = words(variable.get("value")) or default
        # The user must enter a value for a default with a reference, such as ${HOME}/.config.
        return (
            fixed
            if fixed and not _REFERENCE.search(fixed)
            else self._input(name, {**variable, "isSecret": secret}, required=True, asked=asked)
        )

    def _input(self, name: str, said: Mapping[str, Any], required: bool, asked: bool) -> Input:
        # VS Code would also replace references in the description.
        description = re.sub(r"\$+\{", "{", clean_line(words(said.get("description"))[:300], 300)).strip()
        secret = said.get("isSecret") is True
        # A published default is not a secret: the user must enter their own.
        default = "" if secret or asked else words(said.get("default"))
        name = self._free(re.sub(r"[^A-Za-z0-9_-]+", "_", name[:60]).strip("_-") or "value", description)
        new = Input(
            name,
            description,
            required,
            secret,
            default if _is_literal(default) else "",
            () if asked else tuple(literal(choice) for each in _some(said.get("choices")) if (choice := words(each))),
        )
        known = self._named.get(name)
        if known:
            new = evolve(known, required=known.required or required, secret=known.secret or new.secret)
            new = evolve(new, default="", choices=()) if asked else new
        self._named[name] = new
        if len(self._named) > MOST:
            raise Unusable("count", str(MOST))
        return new

    def _free(self, name: str, description: str) -> str:
        """Return `name`, with a number if an input with another description has it."""
        candidates = chain([name], (f"{name}-{number}" for number in count(2)))
        return next(
            each for each in candidates if each not in self._named or self._named[each].description == description
        )


def literal(value: str) -> str:
    """Return `value` if no editor expands a part of it and all of it is visible. Raises Unusable.

    Editors replace references by settings and environment variables of the user, and have no escape for them. An entry
    could send a token of the user to its own URL.
    """
    if len(value) > LONGEST:
        raise Unusable("size", f"{LONGEST:,}")
    if clean(value) != value or "\n" in value or "\t" in value:
        raise Unusable("hidden")
    if _REFERENCE.search(value):
        raise Unusable("reference", value)
    return value


def _is_literal(value: str) -> bool:
    try:
        return bool(literal(value))
    except Unusable:
        return False


def words(value: object) -> str:
    """Return a JSON scalar as text; an empty string for other values."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | float) else ""


def mapping(value: object) -> Mapping[str, Any]:
    """Return `value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def mappings(value: object) -> Iterator[Mapping[str, Any]]:
    """Return the objects of an array. Raises Unusable if there are too many."""
    return (each for each in _some(value) if isinstance(each, dict))


def _some(value: object) -> Sequence[Any]:
    if not isinstance(value, list):
        return ()
    if len(value) > MOST:
        raise Unusable("count", str(MOST))
    return value


def _needed(said: Mapping[str, Any]) -> bool:
    # Most entries do not say that a secret is required, so it is by default.
    return said.get("isRequired", said.get("isSecret")) is True

"""Server configuration independent of the editor: templates of texts, with inputs that the user enters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, count
from typing import Any

from attrs import define, evolve, field, frozen

from ..texts.sanitize import clean_line, is_visible
from ._notices import Notice, Unusable

MAX_TEXT = 2_000
"""Characters of one text."""

MAX_ITEMS = 100
"""Texts of one kind in a package or remote: arguments, variables, headers; inputs of all of them."""

MAX_PLACEHOLDERS = 200
"""Placeholders in the texts of a package or remote."""

_PLACEHOLDER = re.compile(r"\$?\{([A-Za-z_][A-Za-z0-9_.-]{0,59})\}")

# References that editors expand: VS Code, Cursor, Claude Code and Windsurf for ${…}, Gemini CLI for
# $NAME, OpenCode for {env:…} and {file:…}, and Windows for %NAME% where npx is a batch file.
_REFERENCE = re.compile(r"\$[A-Za-z_{(]|\{(?:env|file):|%(?![0-9A-Fa-f]{2}%)[A-Za-z_][A-Za-z0-9_]*%")


@frozen
class Input:
    """A value that the user enters. `default` is empty if there is none, `choices` if any value is allowed."""

    name: str = field(metadata={"description": "Name; configurations have it in angle brackets."})
    description: str = field(metadata={"description": "Description by the publisher; may be empty."})
    required: bool = field(
        metadata={"description": "Whether the configurations contain it; other inputs are optional."}
    )
    secret: bool = field(metadata={"description": "Whether the value is secret."})
    default: str = field(metadata={"description": "Default value; empty if there is none."})
    choices: Sequence[str] = field(metadata={"description": "Allowed values; empty if any value is allowed."})
    variable: str = field(
        default="",
        metadata={"description": "Environment variable that configurations have in its place; empty if not secret."},
    )


Template = tuple[str | Input, ...]
"""Fixed parts and inputs."""

INPUT = "\ue000"
"""The placeholder of an input in `flat`: a private-use character, which fixed parts must not contain."""


def flat(text: Template) -> str:
    """Return a text with `INPUT` in place of each input, to match it with a pattern."""
    return "".join(INPUT if isinstance(part, Input) else part for part in text)


def display(text: Template) -> str:
    """Return a text with `<name>` in place of each input, for display."""
    return "".join(f"<{part.name}>" if isinstance(part, Input) else part for part in text)


@frozen
class ServerConfig:
    """A command to run or a URL to connect to, with variables or headers, and all `inputs`, optional ones included."""

    kind: str
    name: str
    inputs: Sequence[Input]
    command: str = ""
    arguments: Sequence[Template] = ()
    url: Template = ()
    env_or_headers: Mapping[str, Template] = field(factory=dict)
    """Environment variables of a command, headers of a URL."""
    warnings: Sequence[Notice] = ()

    @property
    def used_inputs(self) -> Iterator[Input]:
        """Yield the inputs that the configuration contains."""
        for text in (*self.arguments, self.url, *self.env_or_headers.values()):
            yield from (part for part in text if isinstance(part, Input))

    @property
    def size(self) -> int:
        """Return the number of characters of the configuration."""
        templates = (*self.arguments, self.url, *self.env_or_headers.values(), tuple(self.env_or_headers))
        texts = sum(len(part.name if isinstance(part, Input) else part) for text in templates for part in text)
        input_texts = sum(
            len(item.description) + len(item.default) + sum(map(len, item.choices)) for item in self.inputs
        )
        return texts + input_texts + 8 * len(self.arguments)


@define
class Inputs:
    """Reads the texts of one package or remote, and collects their inputs."""

    _named: dict[str, Input] = field(factory=dict, init=False)
    _placeholders: int = field(default=0, init=False)

    @property
    def all(self) -> tuple[Input, ...]:
        return tuple(self._named.values())

    def text(self, spec: Mapping[str, Any], name: str, *, ignore_defaults: bool = False) -> Template | None:
        """Return the template of `spec` (KeyValueInput or Argument of the server.json schema).

        Returns None if it is optional and has no value. With `ignore_defaults`, the user must enter every input:
        defaults and choices of the publisher are ignored. Raises Unusable.
        """
        if value := as_text(spec.get("value")):
            return self.filled(value, spec, ignore_defaults=ignore_defaults)
        new = self._input(name, spec, required=_is_required(spec), ignore_defaults=ignore_defaults)
        if new.default:
            return self.filled(new.default, spec)
        return (new,) if new.required else None

    def filled(self, value: str, spec: Mapping[str, Any], *, ignore_defaults: bool = False) -> Template:
        """Return `value` with an input, or its fixed value, in place of each `{name}`. Raises Unusable."""
        if len(value) > MAX_TEXT:
            raise Unusable("size", f"{MAX_TEXT:,}")
        variables = mapping(spec.get("variables"))
        parts: list[str | Input] = []
        end = 0
        for placeholder in _PLACEHOLDER.finditer(value):
            self._placeholders += 1
            if self._placeholders > MAX_PLACEHOLDERS:
                raise Unusable("count", str(MAX_PLACEHOLDERS))
            variable = self._variable(placeholder[1], mapping(variables.get(placeholder[1])), spec, ignore_defaults)
            parts += [value[end : placeholder.start()], variable]
            end = placeholder.end()
        parts.append(value[end:])
        # Two harmless parts may form a reference together.
        literal("".join(part.name if isinstance(part, Input) else part for part in parts))
        return tuple(part for part in parts if part)

    def _variable(
        self, name: str, variable: Mapping[str, Any], spec: Mapping[str, Any], ignore_defaults: bool
    ) -> str | Input:
        secret = variable.get("isSecret", spec.get("isSecret"))
        default = "" if secret is True or ignore_defaults else as_text(variable.get("default"))
        fixed = as_text(variable.get("value")) or default
        # The user must enter a value for a default with a reference, such as ${HOME}/.config.
        return (
            fixed
            if fixed and not _REFERENCE.search(fixed)
            else self._input(name, {**variable, "isSecret": secret}, required=True, ignore_defaults=ignore_defaults)
        )

    def _input(self, name: str, spec: Mapping[str, Any], required: bool, ignore_defaults: bool) -> Input:
        # VS Code would also replace references in the description.
        description = re.sub(r"\$+\{", "{", clean_line(as_text(spec.get("description"))[:300], 300)).strip()
        secret = spec.get("isSecret") is True
        # A published default is not a secret: the user must enter their own.
        default = "" if secret or ignore_defaults else as_text(spec.get("default"))
        name = self._free(re.sub(r"[^A-Za-z0-9_-]+", "_", name[:60]).strip("_-") or "value", description)
        new = Input(
            name,
            description,
            required,
            secret,
            default if _is_literal(default) else "",
            ()
            if ignore_defaults
            else tuple(literal(choice) for item in _bounded_list(spec.get("choices")) if (choice := as_text(item))),
        )
        known = self._named.get(name)
        if known:
            new = evolve(known, required=known.required or required, secret=known.secret or new.secret)
            new = evolve(new, default="", choices=()) if ignore_defaults else new
        self._named[name] = new
        if len(self._named) > MAX_ITEMS:
            raise Unusable("count", str(MAX_ITEMS))
        return new

    def _free(self, name: str, description: str) -> str:
        """Return `name`, with a number if an input with another description has it."""
        candidates = chain([name], (f"{name}-{number}" for number in count(2)))
        return next(
            candidate
            for candidate in candidates
            if candidate not in self._named or self._named[candidate].description == description
        )


def literal(value: str) -> str:
    """Return `value` if no editor expands a part of it and all of it is visible. Raises Unusable.

    Editors replace references by settings and environment variables of the user, and have no escape for them. An entry
    could send a token of the user to its own URL.
    """
    if len(value) > MAX_TEXT:
        raise Unusable("size", f"{MAX_TEXT:,}")
    if not is_visible(value):
        raise Unusable("hidden")
    if _REFERENCE.search(value):
        raise Unusable("reference", value)
    return value


def _is_literal(value: str) -> bool:
    try:
        return bool(literal(value))
    except Unusable:
        return False


def as_text(value: object) -> str:
    """Return a JSON scalar as text; an empty string for other values."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | float) else ""


def mapping(value: object) -> Mapping[str, Any]:
    """Return `value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def mappings(value: object) -> Iterator[Mapping[str, Any]]:
    """Return the objects of an array. Raises Unusable if there are too many."""
    return (item for item in _bounded_list(value) if isinstance(item, dict))


def _bounded_list(value: object) -> Sequence[Any]:
    if not isinstance(value, list):
        return ()
    if len(value) > MAX_ITEMS:
        raise Unusable("count", str(MAX_ITEMS))
    return value


def _is_required(spec: Mapping[str, Any]) -> bool:
    # Most entries do not say that a secret is required, so it is by default.
    return spec.get("isRequired", spec.get("isSecret")) is True

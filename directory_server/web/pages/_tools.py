"""Tools of an entry with their parameters, as sanitized text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from attrs import frozen

from ...domain.entries import Entry
from ._filters import plain

MAX_TOOLS = 40
"""Maximum number of tools on the page."""

MAX_PARAMETERS = 12
"""Maximum number of parameters of a tool on the page."""

MAX_ALL_PARAMETERS = 120
"""Maximum number of parameters on the page."""


@frozen
class ParameterView:
    """A parameter of a tool: its name, type and description, and whether it is required."""

    name: str
    type: str
    description: str
    is_required: bool


@frozen
class ToolView:
    """A tool with its parameters; `more` is the number of parameters that are left out."""

    name: str
    description: str
    parameters: Sequence[ParameterView]
    more: int


def tool_views(entry: Entry) -> tuple[Sequence[ToolView], int]:
    """Return the tools on the page, and the number of those that are left out."""
    left = MAX_ALL_PARAMETERS
    views = []
    tools = entry.tools
    schemas = _schemas(entry)
    for tool in tools[:MAX_TOOLS]:
        schema = next(schemas)
        properties = _mapping(schema.get("properties"))
        parameters = list(islice(_parameters(schema, properties), min(left, MAX_PARAMETERS)))
        left -= len(parameters)
        more = len(properties) - len(parameters)
        views.append(ToolView(plain(tool.name, 60), plain(tool.description, 200), parameters, more))
    return views, max(0, len(tools) - MAX_TOOLS)


def _schemas(entry: Entry) -> Iterator[Mapping[str, Any]]:
    """Yield the input schema of each tool, in the order of `entry.tools`; an empty one if there is none."""
    tools = entry.publisher.get("tools")
    for tool in tools if isinstance(tools, list) else []:
        if isinstance(tool, dict) and isinstance(tool.get("name"), str) and tool["name"]:
            yield _mapping(tool.get("inputSchema") or tool.get("input_schema"))


def _parameters(schema: Mapping[str, Any], properties: Mapping[str, Any]) -> Iterator[ParameterView]:
    required = schema.get("required")
    names = {name for name in required[:1_000] if isinstance(name, str)} if isinstance(required, list) else set()
    for name, value in properties.items():
        definition = _mapping(value)
        yield ParameterView(
            plain(name, 60), _type(definition), plain(_text(definition.get("description")), 160), name in names
        )


def _type(definition: Mapping[str, Any]) -> str:
    """Return the type of a JSON Schema, such as `string`, `array of string`, `string or null`; empty if unknown."""
    kinds = definition.get("type")
    words = [kinds] if isinstance(kinds, str) else kinds if isinstance(kinds, list) else []
    text = " or ".join(word for word in words[:4] if isinstance(word, str))
    if text == "array" and (item := _text(_mapping(definition.get("items")).get("type"))):
        text = f"array of {item}"
    choices = definition.get("enum")
    if isinstance(choices, list) and choices and all(isinstance(each, str | int | float) for each in choices[:6]):
        text = " | ".join(str(each) for each in choices[:6]) + (" | …" if len(choices) > 6 else "")
    return plain(text, 80)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""

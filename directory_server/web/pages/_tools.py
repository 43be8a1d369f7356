"""Tools of an entry with their parameters, as sanitized text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from attrs import frozen

from ...domain.entries import Entry
from ...domain.tools import Parameter, parameters_of
from ._filters import plain

MAX_TOOLS = 40
"""Maximum number of tools on the page."""

MAX_PARAMETERS = 12
"""Maximum number of parameters of a tool on the page."""

MAX_ALL_PARAMETERS = 120
"""Maximum number of parameters on the page."""


@frozen
class ToolView:
    """A tool with its parameters; `more` is the number of parameters that are left out."""

    name: str
    description: str
    parameters: Sequence[Parameter]
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
        parameters = [*map(_parameter, islice(parameters_of(schema), min(left, MAX_PARAMETERS)))]
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


def _parameter(parameter: Parameter) -> Parameter:
    return Parameter(
        plain(parameter.name, 60),
        plain(parameter.type, 80),
        plain(parameter.description, 160),
        parameter.is_required,
    )


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}

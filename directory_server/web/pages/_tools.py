"""Tools of an entry with their parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from ...domain.entries import Entry
from ...domain.tools import Parameter, parameters_of
from ...domain.views import Tool

MAX_TOOLS = 40
"""Maximum number of tools on the page."""

MAX_PARAMETERS = 12
"""Maximum number of parameters of a tool on the page."""

MAX_ALL_PARAMETERS = 120
"""Maximum number of parameters on the page."""


def tools_of(entry: Entry) -> tuple[Sequence[tuple[Tool, Sequence[Parameter], int]], int]:
    """Return the tools on the page with their parameters, and the number of those that are left out.

    The number after the parameters is that of the ones left out. Texts are those of the publisher.
    """
    left = MAX_ALL_PARAMETERS
    shown = []
    tools = entry.tools
    schemas = _schemas(entry)
    for tool in tools[:MAX_TOOLS]:
        schema = next(schemas)
        parameters = list(islice(parameters_of(schema), min(left, MAX_PARAMETERS)))
        left -= len(parameters)
        shown.append((tool, parameters, len(_mapping(schema.get("properties"))) - len(parameters)))
    return shown, max(0, len(tools) - MAX_TOOLS)


def _schemas(entry: Entry) -> Iterator[Mapping[str, Any]]:
    """Yield the input schema of each tool, in the order of `entry.tools`; an empty one if there is none."""
    tools = entry.publisher.get("tools")
    for tool in tools if isinstance(tools, list) else []:
        if isinstance(tool, dict) and isinstance(tool.get("name"), str) and tool["name"]:
            yield _mapping(tool.get("inputSchema") or tool.get("input_schema"))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
